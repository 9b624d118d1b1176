/**
 * Reads `[dependencies]` of `svc-env.toml`: links to other worlds. The short form names a world and a version or
 * reference. The table also lists which tools and fields of that world are used.
 */
import { isSlug } from '#domain/world.ts';
import {
  distinct,
  filledText,
  kind,
  listOf,
  mapOf,
  type Placed,
  placed,
  refuseType,
  text,
  textOrTable,
  textThat,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { defaulted, described, optional, readTable, required, tableSchema } from '../read/table.ts';
import { isTable } from '../read/values.ts';

/** A field of this world, as written, and the corresponding field of the other world. */
export type FieldLink = { from: string; to: string; place: Place };

export type DependencyTable = {
  pin: string;
  task: string | undefined;
  /** Tools of the other world that are offered; undefined offers all. */
  tools: string[] | undefined;
  entities: FieldLink[];
};

const pin = textThat('<slug>@<version>, as in "crm@3"', (written) => {
  const [slug = '', ref = '', ...more] = written.split('@');
  return isSlug(slug) && /^[A-Za-z0-9][\w./-]{0,127}$/.test(ref) && more.length === 0;
});

/** Reads `"users.email" = "contacts.email"`; nested tables are another way to write the same key. */
const readLinks = (place: Place, value: unknown, path: string): FieldLink[] => {
  if (typeof value === 'string') return [{ from: path, to: value, place }];
  if (!isTable(value)) {
    refuseType(place, 'a text <entity>.<field>', value);
    return [];
  }
  return Object.entries(value).flatMap(([key, inner]) =>
    readLinks(place.at(key), inner, path === '' ? key : `${path}.${key}`),
  );
};

const links = kind<FieldLink[]>(
  { type: 'object', additionalProperties: { type: ['string', 'object'] } },
  (place, value) =>
    isTable(value)
      ? readLinks(place, value, '')
      : refuseType(place, 'a table of <entity>.<field>', value),
);

const dependencyKeys = {
  pin: described('The other world and its version: <slug>@<version>.', required(pin, '')),
  task: described('Task of the other world on which the other world is opened.', optional(text)),
  tools: described(
    "Tools of the other world that are offered in addition to this world's own, as <alias>.<tool>. Default: all.",
    optional(distinct(listOf(filledText()))),
  ),
  entities: described(
    'Corresponding fields: "<entity>.<field>" of this world to "<entity>.<field>" of the other world.',
    defaulted<FieldLink[]>(links, []),
  ),
};

const short = kind<DependencyTable>({ ...pin.schema }, (place, value) => {
  const read = pin(place, value);
  return read === undefined
    ? undefined
    : { pin: read, task: undefined, tools: undefined, entities: [] };
});

const long = kind<DependencyTable>(tableSchema(dependencyKeys), (place, value) =>
  readTable(place, value, dependencyKeys),
);

/** Links to other worlds, by alias. */
export const dependencies = mapOf<Placed<DependencyTable>>(placed(textOrTable(short, long)));

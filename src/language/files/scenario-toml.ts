/**
 * `scenarios/<name>/scenario.toml`: a bundled task: how its rows join the world's, and what is asserted
 * of the state that is left behind. The format is this project's own; see `docs/world-language.md`.
 */
import {
  filledText,
  integer,
  type Kind,
  listOf,
  oneOf,
  type Placed,
  placed,
  refuseType,
  text,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import {
  defaulted,
  defaultedTable,
  optional,
  readTable,
  required,
  type TableOf,
  tableOf,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { isTable } from '../read/values.ts';

/** A condition's path in dots with its value; tables inside are the same path written otherwise. */
export type Condition = { path: string; value: unknown; place: Place };

const isScalar = (value: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

const readConditions = (place: Place, value: unknown, path: string): Condition[] => {
  if (isTable(value)) {
    return Object.entries(value).flatMap(([key, inner]) =>
      readConditions(place.at(key), inner, path === '' ? key : `${path}.${key}`),
    );
  }
  if (isScalar(value) || (Array.isArray(value) && value.every(isScalar))) {
    return [{ path, value, place }];
  }
  refuseType(place, 'a scalar or a list of scalars', value);
  return [];
};

const conditions: Kind<Condition[]> = (place, value) => {
  if (isTable(value)) return readConditions(place, value, '');
  return refuseType(place, 'a table of fields', value);
};

const checkKeys = {
  name: required(filledText(200), ''),
  entity: required(text, ''),
  where: required<Condition[]>(conditions, []),
  count: optional(integer(0, 1_000_000_000)),
};
export type CheckTable = TableOf<typeof checkKeys>;

const graderKeys = {
  kind: required(oneOf(['assertions']), 'assertions'),
  checks: required<Placed<CheckTable>[]>(listOf(placed(tableOf(checkKeys)), { least: 1 }), []),
};
export type GraderTable = TableOf<typeof graderKeys>;

const fileKeys = {
  name: optional(filledText(200)),
  description: optional(text),
  seed: defaultedTable({
    mode: defaulted<'append' | 'replace'>(oneOf(['append', 'replace']), 'append'),
  }),
  grader: optional<Placed<GraderTable>>(placed(tableOf(graderKeys))),
};
export type Scenario = TableOf<typeof fileKeys> & { place: Place };

/** Reads a scenario's file; undefined when it is missing or broken, which is noted. */
export const readScenario = (tree: Tree, file: string): Scenario | undefined => {
  if (!tree.has(file)) {
    tree.place(file).refuse('missing_file', `a scenario needs the file ${file}`);
    return undefined;
  }
  const document = tree.toml(file);
  if (document === undefined) return undefined;
  return { ...readTable(document.place, document.value, fileKeys), place: document.place };
};

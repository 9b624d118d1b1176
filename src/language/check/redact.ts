/**
 * Checks `[redact]`: the fields that must not be stored in the clear, and their modes. A bare name matches at any depth
 * of a row. A dotted path matches one place only, with `*` for the items of a list. No rule is limited to an entity.
 *
 * A vendor's answers may have more fields than the entities, so a path may name any field of an answer. A world without
 * operations of a vendor has only its entities, so a path must begin at a field of an entity.
 */
import type { RedactPolicy } from '../contract.ts';
import type { RedactTable } from '../files/connector/redact.ts';
import type { Connector } from '../files/connector-toml.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import { isTable } from '../read/values.ts';
import type { Model } from './model.ts';

const modes = ['drop', 'hash', 'preserve'] as const;

/** Returns each name or path, with the places at which a mode lists it. */
const claimsOf = ({ place, value }: Placed<RedactTable>): [name: string, place: Place][] => [
  ...modes.flatMap((mode) =>
    value[mode].map((name, index): [string, Place] => [name, place.at(mode, index)]),
  ),
  ...[...value.round.keys()].map((name): [string, Place] => [
    name,
    place.at('round', name).ofKey(),
  ]),
];

const checkPath = (
  place: Place,
  path: string,
  entities: Model['entities'],
  fields: ReadonlySet<string> | undefined,
): void => {
  const [first = '', ...rest] = path.split('.');
  if ([first, ...rest].some((segment) => segment === '') || first === '*') {
    place.refuse('bad_value', `"${path}" is neither a field name nor a dotted path`);
  } else if (rest.some((segment) => /^\d+$/.test(segment))) {
    const message = `"${path}" names one item of a list, but a rule applies to all items: write * in place of the number`;
    place.refuse('bad_value', message, `write "${path.replace(/\.\d+(?=\.|$)/g, '.*')}"`);
  } else if (rest.length > 0 && entities.has(first)) {
    const message = `"${path}" begins with the entity "${first}", but rules apply to all entities: write the path inside the row`;
    place.refuse('entity_path', message, `write "${rest.join('.')}"`);
  } else if (rest.length > 0 && fields?.has(first) === false) {
    const message = `"${path}" begins with "${first}", which is a field of no entity`;
    place.refuse('unknown_field', message, suggestName(first, fields));
  }
};

const topLevelFields = (entities: Model['entities']): Set<string> =>
  new Set(
    [...entities.values()].flatMap(({ schema: { properties } }) =>
      Object.keys(isTable(properties) ? properties : {}),
    ),
  );

/** Returns the policy of a connector, or null if it has none. Its salt is the connector's slug. */
export const checkRedact = (
  { connector: { slug }, operations, redact }: Connector,
  { entities }: Model,
): RedactPolicy | null => {
  if (redact === undefined) return null;
  const fields = operations.length === 0 ? topLevelFields(entities) : undefined;
  const claimed = new Set<string>();
  for (const [name, place] of claimsOf(redact)) {
    if (claimed.has(name)) {
      const message = `"${name}" is listed under two modes; a field can have only one of hash, drop, preserve and round`;
      place.refuse('two_modes', message);
    }
    claimed.add(name);
    checkPath(place, name, entities, fields);
  }
  for (const name of redact.value.round.keys()) {
    if (!name.includes('.')) continue;
    const place = redact.place.at('round', name).ofKey();
    place.refuse('bad_value', `round accepts only bare field names, but "${name}" is a path`);
  }
  const { hash, drop, preserve, round } = redact.value;
  return { slug, hash, drop, preserve, round: Object.fromEntries(round) };
};

/**
 * Where a query goes on in linked worlds: to those entities whose mappings carry every field of its `where`. A
 * condition that could not be asked would find rows that were not meant.
 */
import type { FieldPair } from '#data/query/plan.ts';
import type { Dependency, Row } from '#language/contract.ts';

/** An entity of a linked world, and what is asked of it. */
export type LinkedEntity = {
  alias: string;
  entity: string;
  where: Row;
  /** All fields of the first world's entity that are mapped to this one. */
  pairs: FieldPair[];
};

export type SkippedLink = { alias: string; reason: string };

type Links = { entities: LinkedEntity[]; skipped: SkippedLink[] };

const first = (path: string): string => path.split('.', 1)[0] ?? '';

/** The conditions in the words of the other world; undefined when a field has none. */
const carry = (where: Row, pairs: readonly FieldPair[]): Row | undefined => {
  const carried: [string, unknown][] = [];
  for (const [path, value] of Object.entries(where)) {
    const pair = pairs.find(({ field }) => field === first(path));
    if (pair === undefined) return undefined;
    carried.push([`${pair.targetField}${path.slice(pair.field.length)}`, value]);
  }
  return Object.fromEntries(carried);
};

const reasonFor = (entity: string, where: Row): string => {
  const fields = Object.keys(where).map((field) => `${entity}.${field}`);
  return fields.length === 0
    ? `it maps no field of "${entity}"`
    : `it maps ${fields.join(' and ')} to no entity of the linked world`;
};

/** Finds them, in the order of the links and of their mappings. */
export const findLinkedEntities = (
  dependencies: readonly Dependency[],
  entity: string,
  where: Row,
): Links => {
  const links: Links = { entities: [], skipped: [] };
  for (const { alias, entities } of dependencies) {
    const own = entities.filter((mapping) => mapping.entity === entity);
    const targets = [...new Set(own.map(({ targetEntity }) => targetEntity))];
    const found = targets.flatMap((target): LinkedEntity[] => {
      const pairs = own
        .filter(({ targetEntity }) => targetEntity === target)
        .map(({ field, targetField }) => ({ field, targetField }));
      const carried = carry(where, pairs);
      return carried === undefined ? [] : [{ alias, entity: target, where: carried, pairs }];
    });
    if (found.length === 0) links.skipped.push({ alias, reason: reasonFor(entity, where) });
    links.entities.push(...found);
  }
  return links;
};

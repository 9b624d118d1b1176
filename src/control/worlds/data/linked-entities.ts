/**
 * Finds the entities of linked worlds in which a query is continued: those whose mappings cover every field of the
 * query's `where`. If a condition were left out, the query would find rows that the client did not mean.
 */
import type { FieldPair } from '#data/query/plan.ts';
import type { Dependency, Row } from '#language/contract.ts';

/** Entity of a linked world, with the query to run on it. */
export type LinkedEntity = {
  alias: string;
  entity: string;
  where: Row;
  /** All pairs of a field of the first world's entity and the field of this entity to which it is mapped. */
  pairs: FieldPair[];
};

export type SkippedLink = { alias: string; reason: string };

type Links = { entities: LinkedEntity[]; skipped: SkippedLink[] };

const first = (path: string): string => path.split('.', 1)[0] ?? '';

/** Returns the conditions with the field names of the linked world; undefined if a field is not mapped. */
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

/** Finds the linked entities, in the order of the links, and within a link in the order of its mappings. */
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

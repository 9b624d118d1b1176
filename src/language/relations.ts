/**
 * Finds how the rows of two entities are related: by a relationship that one of them declares to the other. Checks of
 * tasks follow the relationship in either direction.
 */
import type { EntityContract } from './contract.ts';

/** Pairs of fields: a field of the known row, and the field of the related rows that has the same value. */
export type Relation = { from: string; to: string }[];

type Related = Pick<EntityContract, 'name' | 'primaryKey' | 'relationships'>;

type Candidate = { by: readonly string[]; relation: Relation };

/**
 * Returns true if a relationship targets the entity. Relationships within a linked world name entities without the
 * alias.
 */
const isTarget = ({ name }: Pick<Related, 'name'>, target: string): boolean =>
  name === target || name.endsWith(`.${target}`);

const candidatesOf = (from: Related, to: Related): Candidate[] => {
  const theirs = to.relationships
    .filter(({ target }) => isTarget(from, target))
    .map(({ fields }) => ({
      by: fields,
      relation: fields.map((field, at) => ({ from: from.primaryKey[at] as string, to: field })),
    }));
  const ours = from.relationships
    .filter(({ target }) => isTarget(to, target))
    .map(({ fields }) => ({
      by: fields,
      relation: fields.map((field, at) => ({ from: field, to: to.primaryKey[at] as string })),
    }));
  return [...theirs, ...ours];
};

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((field, at) => field === other[at]);

/**
 * Returns the relation of two entities; if `by` is given, the relation with these fields. If there is none, or if there
 * are several, returns the fault as a sentence.
 */
export const findRelation = (
  from: Related,
  to: Related,
  by: readonly string[] | undefined,
): { relation: Relation } | { fault: string } => {
  const all = candidatesOf(from, to);
  if (all.length === 0) {
    return { fault: `no relationship is declared between ${from.name} and ${to.name}` };
  }
  const choices = all.map((candidate) => JSON.stringify(candidate.by)).join(', ');
  if (by === undefined) {
    const [only, another] = all;
    if (only !== undefined && another === undefined) return { relation: only.relation };
    return {
      fault: `${from.name} and ${to.name} have several relationships; choose one with "by": ${choices}`,
    };
  }
  const found = all.find((candidate) => isSame(candidate.by, by));
  if (found !== undefined) return { relation: found.relation };
  return {
    fault: `${from.name} and ${to.name} have no relationship by ${JSON.stringify(by)}; they have ${choices}`,
  };
};

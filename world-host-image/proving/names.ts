/**
 * Finds identifiers in an instruction, such as `update_issues`, that do not exist in the world. Each identifier must be
 * a tool that the task offers, an entity, a field, or a text that occurs in a row.
 */
import { setImmediate } from 'node:timers/promises';
import type { Contract } from '#language/contract.ts';
import type { Session } from '../session/session.ts';

const namePattern = /\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b/g;
const mostNames = 100;
const pageRows = 500;
/** Maximum number of rows that are searched. If the world has more, no name is reported. */
const mostRows = 200_000;

const fieldsOf = ({ schema }: Contract['entities'][number]): string[] =>
  Object.keys((schema.properties ?? {}) as object);

/** Returns the names that do not occur in any row; an empty list if there are too many rows to search. */
const notInRows = async (
  { contract, store }: Session['world'],
  names: ReadonlySet<string>,
): Promise<Set<string>> => {
  const left = new Set(names);
  let looked = 0;
  for (const { name: entity } of contract.entities) {
    let after: number | undefined;
    for (;;) {
      if (left.size === 0) return left;
      const page = store.list(entity, { limit: pageRows, after });
      for (const row of page.rows) {
        for (const name of left) if (row.includes(name)) left.delete(name);
      }
      looked += page.rows.length;
      if (looked > mostRows) return new Set();
      if (!page.more) break;
      after = page.last;
      await setImmediate();
    }
  }
  return left;
};

/** Returns a message for each identifier that does not exist, or is a tool that the task does not offer. */
export const unknownNames = async ({ task, world }: Session): Promise<string[]> => {
  const { contract } = world;
  const named = new Set((task?.instruction?.match(namePattern) ?? []).slice(0, mostNames));
  const given = task?.tools ?? contract.tools.map(({ name }) => name);
  const withheld = contract.tools
    .map(({ name }) => name)
    .filter((name) => named.has(name) && !given.includes(name));
  const known = [
    ...contract.tools.map(({ name }) => name),
    ...given,
    ...contract.entities.flatMap((entity) => [entity.name, ...fieldsOf(entity)]),
    ...Object.values(contract.definitions).flatMap(({ properties = {} }) =>
      Object.keys(properties as object),
    ),
  ];
  for (const name of known) named.delete(name);
  const missing = named.size === 0 ? [] : [...(await notInRows(world, named))];
  return [
    ...withheld.map((name) => `the task does not offer the tool "${name}"`),
    ...missing.map((name) => `there is no "${name}"`),
  ];
};

/** Computes the changes between a version and the version on which it is based, as the list of versions shows them. */
import { isDeepStrictEqual } from 'node:util';
import type { EntityContract } from '#language/contract.ts';
import type { VersionChanges } from '#wire/public-api/worlds/version.ts';

type FileEntry = { path: string; sha256: string };

/** Returns the numbers of files added, changed and removed. */
export const compareFiles = (
  before: readonly FileEntry[],
  after: readonly FileEntry[],
): VersionChanges['files'] => {
  const old = new Map(before.map(({ path, sha256 }) => [path, sha256]));
  const now = new Set(after.map(({ path }) => path));
  return {
    added: after.filter(({ path }) => !old.has(path)).length,
    changed: after.filter(({ path, sha256 }) => old.has(path) && old.get(path) !== sha256).length,
    removed: before.filter(({ path }) => !now.has(path)).length,
  };
};

/** Maximum number of names listed for each kind of change. */
const mostNames = 20;

/** Returns the names of the entities added, changed and removed. */
export const compareEntities = (
  before: readonly EntityContract[],
  after: readonly EntityContract[],
): VersionChanges['entities'] => {
  const old = new Map(before.map((entity) => [entity.name, entity]));
  const now = new Set(after.map(({ name }) => name));
  const names = (entities: readonly EntityContract[]): string[] =>
    entities.slice(0, mostNames).map(({ name }) => name);
  return {
    added: names(after.filter(({ name }) => !old.has(name))),
    changed: names(
      after.filter((entity) => {
        const was = old.get(entity.name);
        return was !== undefined && !isDeepStrictEqual(was, entity);
      }),
    ),
    removed: names(before.filter(({ name }) => !now.has(name))),
  };
};

/** Returns the number of rows of all entities together. */
export const sumRows = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

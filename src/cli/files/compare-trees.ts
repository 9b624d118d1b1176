/**
 * Compares two trees: files by their digests, entities by their views, rows by their number. Each tree is that of a
 * version of the service or of a folder. The contents of files are not compared here.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EntityView } from '#wire/public-api/worlds/runtime.ts';

export type FileEntry = { path: string; sha256: string };

/** One of the two trees of a comparison. */
export type TreeSide = {
  /** Name of the tree in output: `crm@3`, or the folder. */
  name: string;
  files: readonly FileEntry[];
  entities: readonly EntityView[];
  /** Number of rows of each entity. */
  rows: Readonly<Record<string, number>>;
};

type Names = { added: string[]; changed: string[]; removed: string[] };

export type EntityChange = {
  name: string;
  /** True if the primary key, the unique lists or the relationships of the entity differ. */
  keys: boolean;
  /** Changed fields by dotted path. */
  fields: Names;
};

export type TreeComparison = {
  from: string;
  to: string;
  files: Names;
  entities: { added: string[]; changed: EntityChange[]; removed: string[] };
  /** Entities whose number of rows differs. */
  rows: Record<string, { before: number; after: number }>;
};

const compareNamed = <Item>(
  before: readonly Item[],
  after: readonly Item[],
  nameOf: (item: Item) => string,
): Names => {
  const old = new Map(before.map((item) => [nameOf(item), item]));
  const now = new Set(after.map(nameOf));
  const both = after.filter((item) => old.has(nameOf(item)));
  return {
    added: after.map(nameOf).filter((name) => !old.has(name)),
    changed: both
      .filter((item) => !isDeepStrictEqual(item, old.get(nameOf(item))))
      .map((item) => nameOf(item)),
    removed: before.map(nameOf).filter((name) => !now.has(name)),
  };
};

const compareEntity = (before: EntityView, after: EntityView): EntityChange => {
  const { fields: oldFields, ...oldKeys } = before;
  const { fields: newFields, ...newKeys } = after;
  return {
    name: after.name,
    keys: !isDeepStrictEqual(oldKeys, newKeys),
    fields: compareNamed(oldFields, newFields, ({ path }) => path),
  };
};

const compareEntities = (
  before: readonly EntityView[],
  after: readonly EntityView[],
): TreeComparison['entities'] => {
  const { added, changed, removed } = compareNamed(before, after, ({ name }) => name);
  const old = new Map(before.map((entity) => [entity.name, entity]));
  const now = new Map(after.map((entity) => [entity.name, entity]));
  const changes = changed.flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    return was === undefined || is === undefined ? [] : [compareEntity(was, is)];
  });
  return { added, changed: changes, removed };
};

const compareRows = (before: TreeSide['rows'], after: TreeSide['rows']): TreeComparison['rows'] => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const counts = [...names].map(
    (name) => [name, { before: before[name] ?? 0, after: after[name] ?? 0 }] as const,
  );
  return Object.fromEntries(counts.filter(([, count]) => count.before !== count.after));
};

/** Compares two trees. */
export const compareTrees = (before: TreeSide, after: TreeSide): TreeComparison => ({
  from: before.name,
  to: after.name,
  files: compareNamed(before.files, after.files, ({ path }) => path),
  entities: compareEntities(before.entities, after.entities),
  rows: compareRows(before.rows, after.rows),
});

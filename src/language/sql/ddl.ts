/**
 * The SQLite tables of a contract, as text. One table an entity: the canonical key, the row's JSON as
 * it was given, and a virtual column for each scalar top-level field, which costs no space in the row
 * and lets indexes and foreign keys speak of fields.
 *
 * Foreign keys are deferred, so that rows of one batch may come in any order. Null and absent values
 * are distinct to SQLite: they neither collide in a unique index nor refer to anything.
 */
import type { Contract, EntityContract, FieldPath } from '../contract.ts';

/** A name quoted for SQL. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text as an SQL literal. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Whether SQLite's notation can write a path; it has no way to quote some characters. */
export const isAddressable = (path: FieldPath): boolean =>
  path.every((segment) => segment.isWellFormed() && !/["\\\0]/.test(segment));

/** The path in SQLite's notation, for example `$."owner"."login"` or `$."labels"[0]`. */
export const jsonPath = (path: FieldPath): string =>
  `$${path.map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `."${segment}"`)).join('')}`;

type Columns = Pick<EntityContract, 'columns'>;

/** SQLite's own names for a row's number. A column of the same name hides one of them. */
const rowNumbers = ['rowid', '_rowid_', 'oid'];

/**
 * What a table calls the number of a row in the order of insertion: a name of SQLite's, unless columns
 * took them all. Then the table has a column for it, under a name that is free.
 */
export const positionName = ({ columns }: Columns): { name: string; isColumn: boolean } => {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const free = rowNumbers.find((name) => !taken.has(name));
  if (free !== undefined) return { name: free, isColumn: false };
  let name = '_position';
  while (taken.has(name)) name += '_';
  return { name, isColumn: true };
};

const keyColumns = (entity: Columns): string[] => {
  const { name, isColumn } = positionName(entity);
  return isColumn
    ? [`${quoteName(name)} INTEGER PRIMARY KEY`, '_key TEXT UNIQUE NOT NULL']
    : ['_key TEXT PRIMARY KEY NOT NULL'];
};

const isColumn = (entity: EntityContract, path: FieldPath): boolean =>
  path.length === 1 && entity.columns.some(({ name }) => name === path[0]);

/** What an index is over: a column where there is one, else an expression on the payload. */
const indexTerm = (entity: EntityContract, path: FieldPath): string =>
  isColumn(entity, path)
    ? quoteName(path[0] ?? '')
    : `json_extract(payload, ${quoteText(jsonPath(path))})`;

const nameList = (fields: readonly string[]): string => fields.map(quoteName).join(', ');

const foreignKey = (
  { fields, target }: EntityContract['relationships'][number],
  entities: ReadonlyMap<string, EntityContract>,
): string => {
  const parentKey = entities.get(target)?.primaryKey ?? [];
  return `FOREIGN KEY (${nameList(fields)}) REFERENCES ${quoteName(target)} (${nameList(parentKey)}) DEFERRABLE INITIALLY DEFERRED`;
};

const createTable = (
  entity: EntityContract,
  entities: ReadonlyMap<string, EntityContract>,
): string => {
  const columns = entity.columns.map(({ name, type }) => {
    const value = `payload ->> ${quoteText(jsonPath([name]))}`;
    return `${quoteName(name)} ${type} GENERATED ALWAYS AS (${value}) VIRTUAL`;
  });
  const lines = [
    ...keyColumns(entity),
    'payload TEXT NOT NULL',
    ...columns,
    ...entity.relationships.map((relationship) => foreignKey(relationship, entities)),
  ];
  return `CREATE TABLE ${quoteName(entity.name)} (\n  ${lines.join(',\n  ')}\n);`;
};

const startsWith = (list: readonly string[], start: readonly string[]): boolean =>
  start.every((item, index) => item === list[index]);

/** Entity names never begin with `svc_`, so these names meet no table. */
const createIndexes = (entity: EntityContract): string[] => {
  const on = (unique: boolean, kind: string, paths: readonly FieldPath[]): string => {
    const name = quoteName(`svc_${entity.name}_${kind}`);
    const terms = paths.map((path) => indexTerm(entity, path)).join(', ');
    return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${name} ON ${quoteName(entity.name)} (${terms});`;
  };
  const pathsOf = (fields: readonly string[]): FieldPath[] => fields.map((field) => [field]);
  return [
    on(true, 'key', pathsOf(entity.primaryKey)),
    ...entity.unique.map((paths, index) => on(true, `unique_${index + 1}`, paths)),
    ...entity.relationships
      .filter(({ fields }) => !startsWith(entity.primaryKey, fields))
      .map(({ fields }, index) => on(false, `reference_${index + 1}`, pathsOf(fields))),
  ];
};

/** The statements that make an empty store of a contract, each ended by `;` and a line break. */
export const createTablesSql = (contract: Pick<Contract, 'entities'>): string => {
  const entities = new Map(contract.entities.map((entity) => [entity.name, entity]));
  const statements = contract.entities.flatMap((entity) => [
    createTable(entity, entities),
    ...createIndexes(entity),
  ]);
  return `${statements.join('\n')}\n`;
};

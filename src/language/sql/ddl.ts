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

const keyColumns = (entity: Columns, isBare: boolean): string[] => {
  const { name, isColumn } = positionName(entity);
  const position = isColumn ? [`${quoteName(name)} INTEGER PRIMARY KEY`] : [];
  if (isBare) return [...position, '_key TEXT NOT NULL'];
  return [...position, `_key TEXT ${isColumn ? 'UNIQUE' : 'PRIMARY KEY'} NOT NULL`];
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
  isBare = false,
): string => {
  const columns = entity.columns.map(({ name, type }) => {
    const value = `payload ->> ${quoteText(jsonPath([name]))}`;
    return `${quoteName(name)} ${type} GENERATED ALWAYS AS (${value}) VIRTUAL`;
  });
  const lines = [
    ...keyColumns(entity, isBare),
    'payload TEXT NOT NULL',
    ...columns,
    ...entity.relationships.map((relationship) => foreignKey(relationship, entities)),
  ];
  return `CREATE TABLE ${quoteName(entity.name)} (\n  ${lines.join(',\n  ')}\n);`;
};

const startsWith = (list: readonly string[], start: readonly string[]): boolean =>
  start.every((item, index) => item === list[index]);

/** An index of a table: its name, quoted, and what it is over, as SQL. */
export type TableIndex = { name: string; isUnique: boolean; terms: string[] };

/** Entity names never begin with `svc_`, so these names meet no table. */
const nameIndex = (entity: EntityContract, kind: string): string =>
  quoteName(`svc_${entity.name}_${kind}`);

/** The indexes of an entity's table beside that of the canonical key. */
export const indexesOf = (entity: EntityContract): TableIndex[] => {
  const over = (isUnique: boolean, kind: string, paths: readonly FieldPath[]): TableIndex => ({
    name: nameIndex(entity, kind),
    isUnique,
    terms: paths.map((path) => indexTerm(entity, path)),
  });
  const pathsOf = (fields: readonly string[]): FieldPath[] => fields.map((field) => [field]);
  return [
    over(true, 'key', pathsOf(entity.primaryKey)),
    ...entity.unique.map((paths, index) => over(true, `unique_${index + 1}`, paths)),
    ...entity.relationships
      .filter(({ fields }) => !startsWith(entity.primaryKey, fields))
      .map(({ fields }, index) => over(false, `reference_${index + 1}`, pathsOf(fields))),
  ];
};

/** The statement that makes an index. */
export const createIndexSql = (
  { name: table }: Pick<EntityContract, 'name'>,
  { name, isUnique, terms }: TableIndex,
): string =>
  `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${name} ON ${quoteName(table)} (${terms.join(', ')});`;

/** The statements that make an empty store of a contract, each ended by `;` and a line break. */
export const createTablesSql = (contract: Pick<Contract, 'entities'>): string => {
  const entities = new Map(contract.entities.map((entity) => [entity.name, entity]));
  const statements = contract.entities.flatMap((entity) => [
    createTable(entity, entities),
    ...indexesOf(entity).map((index) => createIndexSql(entity, index)),
  ]);
  return `${statements.join('\n')}\n`;
};

/**
 * The same tables without any index, to be filled with many rows; their indexes are made in the end, in a
 * third of the time that keeping them up to date takes. The canonical key has an index by a name, `keyIndexOf`,
 * in place of one that belongs to the table: no reader tells them apart.
 */
export const createBareTablesSql = (contract: Pick<Contract, 'entities'>): string => {
  const entities = new Map(contract.entities.map((entity) => [entity.name, entity]));
  return contract.entities.map((entity) => createTable(entity, entities, true)).join('\n');
};

/** The index of the canonical key of a bare table. */
export const keyIndexOf = (entity: EntityContract): TableIndex => ({
  name: nameIndex(entity, 'row'),
  isUnique: true,
  terms: ['_key'],
});

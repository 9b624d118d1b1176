/**
 * Builds the SQLite tables of a contract, as SQL text.
 *
 * An entity's table has the canonical key, the row's JSON as given, and a virtual column for each scalar top-level
 * field. Virtual columns take no space in the row, and can be used by indexes and foreign keys. Foreign keys are
 * deferred, so that rows of one batch may be inserted in any order. Null and absent values are distinct in SQLite: they
 * neither collide in a unique index nor refer to a row.
 */
import type { Contract, EntityContract, FieldPath } from '../contract.ts';

/** Quotes a name for SQL. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns a text as an SQL literal. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns true if a path can be written in SQLite's notation, which cannot quote some characters. */
export const isAddressable = (path: FieldPath): boolean =>
  path.every((segment) => segment.isWellFormed() && !/["\\\0]/.test(segment));

/** Returns the path in SQLite's notation, for example `$."owner"."login"` or `$."labels"[0]`. */
export const jsonPath = (path: FieldPath): string =>
  `$${path.map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `."${segment}"`)).join('')}`;

type Columns = Pick<EntityContract, 'columns'>;

/** SQLite's own names for a row's number. A column with one of these names hides the row's number under that name. */
const rowNumbers = ['rowid', '_rowid_', 'oid'];

/**
 * Returns the name under which a row's number in the order of insertion is read. It is one of SQLite's names, unless
 * columns have all of them; then the table has a column for the number, under a free name.
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

/** Returns a term of an index: a column if the path has one, else an expression on the payload. */
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

/** An index of a table: its quoted name, and its terms as SQL. */
export type TableIndex = { name: string; isUnique: boolean; terms: string[] };

/** Returns a name for an index. Names of entities never begin with `svc_`, so the name collides with no table. */
const nameIndex = (entity: EntityContract, kind: string): string =>
  quoteName(`svc_${entity.name}_${kind}`);

/** Returns the indexes of an entity's table, except the index of the canonical key. */
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

/** Returns the statement that creates an index. */
export const createIndexSql = (
  { name: table }: Pick<EntityContract, 'name'>,
  { name, isUnique, terms }: TableIndex,
): string =>
  `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${name} ON ${quoteName(table)} (${terms.join(', ')});`;

/** Returns the statements that create an empty store of a contract; each ends with `;` and a line break. */
export const createTablesSql = (contract: Pick<Contract, 'entities'>): string => {
  const entities = new Map(contract.entities.map((entity) => [entity.name, entity]));
  const statements = contract.entities.flatMap((entity) => [
    createTable(entity, entities),
    ...indexesOf(entity).map((index) => createIndexSql(entity, index)),
  ]);
  return `${statements.join('\n')}\n`;
};

/**
 * Returns the statements that create the same tables without any index, for bulk loads. The indexes are created at the
 * end, in a third of the time that maintaining them would take. The canonical key gets a named index, `keyIndexOf`,
 * instead of the table's own; readers see no difference.
 */
export const createBareTablesSql = (contract: Pick<Contract, 'entities'>): string => {
  const entities = new Map(contract.entities.map((entity) => [entity.name, entity]));
  return contract.entities.map((entity) => createTable(entity, entities, true)).join('\n');
};

/** Returns the index of the canonical key of a table that was created without indexes. */
export const keyIndexOf = (entity: EntityContract): TableIndex => ({
  name: nameIndex(entity, 'row'),
  isUnique: true,
  terms: ['_key'],
});

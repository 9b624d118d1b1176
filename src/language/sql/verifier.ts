/**
 * Verifiers: one query that grades a task, over the tables of a world and its request ledger. Each row that the query
 * returns is a check: `passed` (1, or 0 or null), and optionally `name`.
 *
 * SQLite itself validates a query: it prepares the query over empty tables, with permission to read only. The query is
 * not run. But a malicious query may take arbitrarily long to prepare, so queries of clients need a process with a time
 * limit.
 */
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import type { EntityContract } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { createTablesSql, positionName, quoteName, quoteText } from './ddl.ts';
import { ledgerEntityContract } from './ledger-entity.ts';

/** Actions that a query which only reads may contain. */
const allowedActions: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);

/** Returns the entities that a verifier reads: those of the world, and the request ledger. */
export const verifiedEntities = (entities: readonly EntityContract[]): EntityContract[] => [
  ...entities,
  ledgerEntityContract,
];

/** Opens a database with the tables that a verifier reads; the tables are empty. */
export const openVerifierTables = (entities: readonly EntityContract[]): DatabaseSync => {
  const database = new DatabaseSync(':memory:');
  // Sorting and grouping must stay in memory: the process of the query cannot open files.
  database.exec('PRAGMA temp_store = MEMORY');
  database.exec(createTablesSql({ entities: verifiedEntities(entities) }));
  return database;
};

/** Name under which a file of base rows is attached, and name of the table with the positions of replaced base rows. */
const baseSchema = 'base';
const goneTable = ({ name }: EntityContract): string => quoteName(`svc_gone_${name}`);

export type UponBase = {
  /** Hides the base row at this position, because it was deleted, or because a row in the tables replaces it. */
  remove(entity: EntityContract, position: number): void;
};

/**
 * Attaches a file of base rows, which is read in place. Each entity becomes a view of its own table and of those rows
 * of the file that are not hidden. SQLite resolves the view, so that the indexes of both are used.
 */
export const attachBase = (
  database: DatabaseSync,
  address: string,
  entities: readonly EntityContract[],
): UponBase => {
  // Rows may refer to others in the file, which foreign keys cannot check.
  database.exec(`PRAGMA foreign_keys = OFF; ATTACH ${quoteText(address)} AS ${baseSchema}`);
  for (const entity of entities) {
    const [table, gone] = [quoteName(entity.name), goneTable(entity)];
    const columns = [
      '_key',
      'payload',
      ...entity.columns.map(({ name }) => quoteName(name)),
    ].join();
    database.exec(`
      CREATE TEMP TABLE ${gone} (position INTEGER PRIMARY KEY);
      CREATE TEMP VIEW ${table} AS
        SELECT ${columns} FROM ${baseSchema}.${table}
          WHERE ${quoteName(positionName(entity).name)} NOT IN (SELECT position FROM temp.${gone})
        UNION ALL SELECT ${columns} FROM main.${table};
    `);
  }
  return {
    remove: (entity, position) =>
      void database.prepare(`INSERT INTO temp.${goneTable(entity)} VALUES (?)`).run(position),
  };
};

/** Restricts all further statements of the database to reading. */
export const allowReadingOnly = (database: DatabaseSync): void => {
  database.setAuthorizer((action) =>
    allowedActions.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY,
  );
};

/** Returns true if only comments, blanks and semicolons are left after a statement. */
const isBlank = (sql: string): boolean =>
  sql.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\s;]/g, '') === '';

const explainError = (message: string, entities: readonly EntityContract[]): string | undefined => {
  const [, table] = /^no such table: (.+)$/.exec(message) ?? [];
  const known = verifiedEntities(entities);
  if (table !== undefined) {
    return suggestName(
      table,
      known.map(({ name }) => name),
    );
  }
  const [, column] = /^no such column: (?:.+\.)?(.+)$/.exec(message) ?? [];
  if (column === undefined) return undefined;
  const columns = known.flatMap((entity) => entity.columns);
  const hint = suggestName(column, new Set(columns.map(({ name }) => name)));
  return `${hint}; fields that are not scalars are inside payload: payload ->> '$.field'`;
};

/** Reason why a query could never grade a task, and the way out. */
type VerifierFault = { message: string; hint?: string | undefined };

/** Returns the fault of a query that SQLite was able to prepare; undefined if it has none. */
const statementFault = (sql: string, statement: StatementSync): VerifierFault | undefined => {
  const end = sql.indexOf(statement.sourceSQL) + statement.sourceSQL.length;
  if (!isBlank(sql.slice(end))) return { message: 'there is more than one statement' };
  const columns = statement.columns().map(({ name }) => name);
  if (columns.includes('passed')) return undefined;
  return {
    message: `the query returns ${columns.join(', ') || 'no column'}, but no column "passed"`,
    hint: 'select a column "passed", 0 or 1, and optionally a column "name"',
  };
};

/**
 * Returns the fault of a query, checked over a read-only database of `openVerifierTables`; undefined if the query is
 * valid.
 */
export const findVerifierFault = (
  sql: string,
  database: DatabaseSync,
  entities: readonly EntityContract[],
): VerifierFault | undefined => {
  if (isBlank(sql)) return { message: 'the file has no query' };
  try {
    return statementFault(sql, database.prepare(sql));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.message === 'not authorized') return { message: 'the query may only read' };
    return { message: error.message, hint: explainError(error.message, entities) };
  }
};

/** Returns why a query could never grade sessions of a world with these entities; undefined if it could. */
export const verifierFault = (
  sql: string,
  entities: readonly EntityContract[],
): VerifierFault | undefined => {
  using database = openVerifierTables(entities);
  allowReadingOnly(database);
  return findVerifierFault(sql, database, entities);
};

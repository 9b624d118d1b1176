/**
 * Verifiers: one query that grades a task, over the tables of a world and its request ledger. Each row
 * that it answers is a check: `passed` (1, or 0 or null), and if it likes `name`.
 *
 * SQLite itself judges a query: it is prepared over empty tables, allowed to do nothing but read. It is
 * not run here; one that was made to takes as long to prepare as it likes, so strangers' queries are
 * for processes with a limit on time.
 */
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import type { EntityContract } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { createTablesSql, positionName, quoteName, quoteText } from './ddl.ts';
import { ledgerEntityContract } from './ledger-entity.ts';

/** What a reading query is made of. */
const allowedActions: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);

/** The entities that a verifier reads: those of the world, and the request ledger. */
export const verifiedEntities = (entities: readonly EntityContract[]): EntityContract[] => [
  ...entities,
  ledgerEntityContract,
];

/** A database with the tables that a verifier reads, empty. */
export const openVerifierTables = (entities: readonly EntityContract[]): DatabaseSync => {
  const database = new DatabaseSync(':memory:');
  // What a query sorts or groups stays in memory: the process that it runs in can open no file.
  database.exec('PRAGMA temp_store = MEMORY');
  database.exec(createTablesSql({ entities: verifiedEntities(entities) }));
  return database;
};

/** How SQL names the attached file of base rows, and the table of the positions that do not count there. */
const baseSchema = 'base';
const goneTable = ({ name }: EntityContract): string => quoteName(`svc_gone_${name}`);

export type UponBase = {
  /** A row of the base at this position does not count: it is gone, or another one in the tables. */
  remove(entity: EntityContract, position: number): void;
};

/**
 * Puts the tables upon a file of base rows, which is read where it lies: each entity is then what is in its table
 * and what the file has beside, as a view that SQLite looks through, so that indexes of both serve.
 */
export const attachBase = (
  database: DatabaseSync,
  address: string,
  entities: readonly EntityContract[],
): UponBase => {
  // Rows refer to others that are in the file.
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

/** From here on, statements of the database may read and nothing else. */
export const allowReadingOnly = (database: DatabaseSync): void => {
  database.setAuthorizer((action) =>
    allowedActions.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY,
  );
};

/** Whether nothing but comments, blanks and semicolons follows a statement. */
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
  return `${hint}; fields that are no scalars are in payload, as payload ->> '$.field'`;
};

/** Why a query could never grade, and what to do about it. */
type VerifierFault = { message: string; hint?: string | undefined };

/** What is wrong with a query that SQLite prepared. */
const statementFault = (sql: string, statement: StatementSync): VerifierFault | undefined => {
  const end = sql.indexOf(statement.sourceSQL) + statement.sourceSQL.length;
  if (!isBlank(sql.slice(end))) return { message: 'there is more than one statement' };
  const columns = statement.columns().map(({ name }) => name);
  if (columns.includes('passed')) return undefined;
  return {
    message: `the query answers ${columns.join(', ') || 'no column'}, not "passed"`,
    hint: 'select a column "passed", 0 or 1, and if you like "name"',
  };
};

/** Judges a query over a database of `openVerifierTables` that may only be read. */
export const findVerifierFault = (
  sql: string,
  database: DatabaseSync,
  entities: readonly EntityContract[],
): VerifierFault | undefined => {
  if (isBlank(sql)) return { message: 'there is no query' };
  try {
    return statementFault(sql, database.prepare(sql));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.message === 'not authorized') return { message: 'only reading is allowed' };
    return { message: error.message, hint: explainError(error.message, entities) };
  }
};

/** Why a query could never grade sessions of a world with these entities; undefined when it can. */
export const verifierFault = (
  sql: string,
  entities: readonly EntityContract[],
): VerifierFault | undefined => {
  using database = openVerifierTables(entities);
  allowReadingOnly(database);
  return findVerifierFault(sql, database, entities);
};

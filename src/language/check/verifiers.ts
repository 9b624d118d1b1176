/**
 * Verifiers: `verifiers/<name>.sql`, each one query that grades a task. SQLite itself prepares it here,
 * over the empty tables of the world, allowed to do nothing but read them: a table or column that is
 * not there, or a statement that would change anything, is refused. The query is not run.
 */
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Task } from '../contract.ts';
import { createTablesSql } from '../ddl.ts';
import { readTasksJson, type VerifierTask, verifierFolder } from '../files/verifier-tasks.ts';
import type { Placed } from '../read/kinds.ts';
import { suggestName } from '../read/suggest.ts';
import type { Tree } from '../read/tree.ts';
import type { Model } from './model.ts';

export type VerifierSources = {
  tree: Tree;
  model: Model;
  /** Whether the data model has no problems, so that its tables can be made. */
  isSound: boolean;
  /** Names of the world's tools. */
  tools: ReadonlySet<string>;
};

/** What a reading query is made of. */
const allowedActions: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);

const openTables = (model: Model): DatabaseSync => {
  const database = new DatabaseSync(':memory:');
  database.exec(createTablesSql({ entities: [...model.entities.values()] }));
  database.setAuthorizer((action) =>
    allowedActions.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY,
  );
  return database;
};

/** Whether nothing but comments, blanks and semicolons follows a statement. */
const isBlank = (sql: string): boolean =>
  sql.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\s;]/g, '') === '';

const explainError = (message: string, model: Model): string | undefined => {
  const [, table] = /^no such table: (.+)$/.exec(message) ?? [];
  if (table !== undefined) return suggestName(table, model.entities.keys());
  const [, column] = /^no such column: (?:.+\.)?(.+)$/.exec(message) ?? [];
  if (column === undefined) return undefined;
  const columns = [...model.entities.values()].flatMap((entity) => entity.columns);
  const hint = suggestName(column, new Set(columns.map(({ name }) => name)));
  return `${hint}; fields that are no scalars are in payload, as payload ->> '$.field'`;
};

type Fault = [message: string, hint?: string | undefined];

/** What is wrong with a query that SQLite prepared. */
const statementFault = (sql: string, statement: StatementSync): Fault | undefined => {
  const end = sql.indexOf(statement.sourceSQL) + statement.sourceSQL.length;
  if (!isBlank(sql.slice(end))) return ['there is more than one statement'];
  const columns = statement.columns().map(({ name }) => name);
  if (columns.includes('passed')) return undefined;
  const message = `the query answers ${columns.join(', ') || 'no column'}, not "passed"`;
  return [message, 'select a column "passed", 0 or 1, and if you like "name"'];
};

/** Why a query could never grade; undefined when it can. */
const queryFault = (sql: string, database: DatabaseSync, model: Model): Fault | undefined => {
  if (isBlank(sql)) return ['there is no query'];
  try {
    return statementFault(sql, database.prepare(sql));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.message === 'not authorized') return ['only reading is allowed'];
    return [error.message, explainError(error.message, model)];
  }
};

const pathOf = (verifier: string): string => {
  const name = verifier.startsWith(verifierFolder)
    ? verifier.slice(verifierFolder.length)
    : verifier;
  return `${verifierFolder}${name.endsWith('.sql') ? name : `${name}.sql`}`;
};

const checkTaskTools = (
  { place, value }: Placed<VerifierTask>,
  tools: ReadonlySet<string>,
): void => {
  for (const [index, name] of (value.tools ?? []).entries()) {
    if (tools.has(name)) continue;
    const message = `the world has no tool "${name}"`;
    place.at('tools', index).refuse('unknown_tool', message, suggestName(name, tools));
  }
};

const refuseStrayFiles = (tree: Tree, used: ReadonlySet<string>): void => {
  for (const file of tree.paths(verifierFolder)) {
    if (used.has(file) || file.endsWith('.md')) continue;
    const message = `no task names the verifier ${file}`;
    tree.place(file).refuse('unsupported_file', message, 'name it in tasks.json, or remove it');
  }
};

/** Prepares every verifier that is there, over the tables of the world. */
const checkFiles = (files: ReadonlySet<string>, { tree, model }: VerifierSources): void => {
  const present = [...files].filter((file) => tree.has(file));
  if (present.length === 0) return;
  using database = openTables(model);
  for (const file of present) {
    const sql = tree.text(file);
    const fault = sql === undefined ? undefined : queryFault(sql, database, model);
    if (fault === undefined) continue;
    const [message, hint] = fault;
    tree.place(file).refuse('bad_verifier', `${file}: ${message}`, hint);
  }
};

const toTask = (
  task: Placed<VerifierTask>,
  { tree, tools }: VerifierSources,
): Placed<Task> | undefined => {
  const { place, value } = task;
  checkTaskTools(task, tools);
  if (value.verifier === '') return undefined;
  const file = pathOf(value.verifier);
  const source = tree.text(file);
  if (source === undefined) {
    if (!tree.has(file)) place.at('verifier').refuse('missing_file', `${file} is not in the tree`);
    return undefined;
  }
  return {
    place,
    value: {
      name: value.name,
      description: value.description ?? null,
      tools: value.tools ?? null,
      instruction: value.instruction ?? null,
      seed: { mode: 'append', rows: {} },
      grader: { kind: 'sql', source },
    },
  };
};

/** The verifier tasks of `tasks.json` and of the manifest, in this order. */
export const checkVerifierTasks = (
  declared: readonly Placed<VerifierTask>[],
  sources: VerifierSources,
): Placed<Task>[] => {
  const { tree, isSound } = sources;
  const all = [...readTasksJson(tree), ...declared];
  const files = new Set(all.map(({ value }) => pathOf(value.verifier)));
  refuseStrayFiles(tree, files);
  if (isSound) checkFiles(files, sources);
  return all.flatMap((task) => toTask(task, sources) ?? []);
};

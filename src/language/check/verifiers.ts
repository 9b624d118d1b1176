/**
 * Checks verifiers: `verifiers/<name>.sql`, each with one query that grades a task. SQLite itself prepares the query
 * over the empty tables of the world, with permission to read only. So a missing table or column, or a statement that
 * writes, is refused. The query is not run.
 */
import type { Dependency } from '../contract.ts';
import { readTasksJson, type VerifierTask, verifierFolder } from '../files/verifier-tasks.ts';
import type { Placed } from '../read/kinds.ts';
import type { Tree } from '../read/tree.ts';
import { allowReadingOnly, findVerifierFault, openVerifierTables } from '../sql/verifier.ts';
import type { Task } from '../task.ts';
import { readChanges } from './changes.ts';
import type { Model } from './model.ts';
import { checkTaskTools } from './tasks.ts';
import type { FieldValues } from './values.ts';

export type VerifierSources = {
  tree: Tree;
  model: Model;
  /** True if the data model has no problems, so that its tables can be created. */
  isSound: boolean;
  /** Names of the world's tools, without those of linked worlds. */
  tools: ReadonlySet<string>;
  dependencies: readonly Dependency[];
  values: FieldValues;
};

const pathOf = (verifier: string): string => {
  const name = verifier.startsWith(verifierFolder)
    ? verifier.slice(verifierFolder.length)
    : verifier;
  return `${verifierFolder}${name.endsWith('.sql') ? name : `${name}.sql`}`;
};

const refuseStrayFiles = (tree: Tree, used: ReadonlySet<string>): void => {
  for (const file of tree.paths(verifierFolder)) {
    if (used.has(file) || file.endsWith('.md')) continue;
    const message = `no task names the verifier ${file}`;
    tree
      .place(file)
      .refuse('unsupported_file', message, 'name the verifier in tasks.json, or remove the file');
  }
};

/** Prepares every existing verifier over the tables of the world. */
const checkFiles = (files: ReadonlySet<string>, { tree, model }: VerifierSources): void => {
  const present = [...files].filter((file) => tree.has(file));
  if (present.length === 0) return;
  const entities = [...model.entities.values()];
  using database = openVerifierTables(entities);
  allowReadingOnly(database);
  for (const file of present) {
    const sql = tree.text(file);
    const fault = sql === undefined ? undefined : findVerifierFault(sql, database, entities);
    if (fault === undefined) continue;
    tree.place(file).refuse('bad_verifier', `${file}: ${fault.message}`, fault.hint);
  }
};

const toTask = (task: Placed<VerifierTask>, sources: VerifierSources): Placed<Task> | undefined => {
  const { tree, tools, dependencies } = sources;
  const { place, value } = task;
  checkTaskTools(place.at('tools'), value.tools, { tools, dependencies });
  const changes = readChanges(value.changes, sources);
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
      grader: { kind: 'sql', source, ...changes },
    },
  };
};

/** Returns the verifier tasks of `tasks.json`, followed by those of the manifest. */
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

/**
 * Reads verifier tasks: bundled tasks that a query grades. They are written in `tasks.json`, or as `[[tasks]]` in
 * `svc-env.toml`; each names one of the files in `verifiers/`. The format is this project's own.
 */
import {
  distinct,
  filledText,
  listOf,
  type Placed,
  placed,
  refuseType,
  text,
  textMatching,
} from '../read/kinds.ts';
import { described, optional, readTable, required, type TableOf, tableOf } from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { type ChangesTable, changesTable } from './changes-toml.ts';

export const tasksFile = 'tasks.json';
export const verifierFolder = 'verifiers/';

const taskKeys = {
  name: described('Name of the task, unique in the world.', required(filledText(200), '')),
  description: described('For people.', optional(text)),
  instruction: described('The instruction for the agent.', optional(text)),
  tools: described(
    'Tools that the agent is offered. Default: all.',
    optional<string[]>(distinct(listOf(filledText()))),
  ),
  verifier: described(
    'Query that grades the task: the name of a file in verifiers/, with or without ".sql".',
    required(
      textMatching(
        'the name of a file in verifiers/',
        /^(verifiers\/)?[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$/,
      ),
      '',
    ),
  ),
  changes: described(
    'Changes that are allowed in addition to those that the query requires.',
    optional<Placed<ChangesTable>>(placed(changesTable)),
  ),
};
export type VerifierTask = TableOf<typeof taskKeys>;

export const verifierTasks = listOf(placed(tableOf(taskKeys)));

export const tasksFileKeys = {
  tasks: described(
    'Tasks that a query grades. The file may also be the list itself, without this key.',
    required(verifierTasks, []),
  ),
};

/** Returns the tasks of `tasks.json`, which is a list, or an object that has the list as `tasks`. */
export const readTasksJson = (tree: Tree): Placed<VerifierTask>[] => {
  const document = tree.authoredJson(tasksFile);
  if (document === undefined) return [];
  const { place, value } = document;
  if (Array.isArray(value)) return verifierTasks(place, value) ?? [];
  if (typeof value !== 'object' || value === null) {
    refuseType(place, 'a list of tasks', value);
    return [];
  }
  return readTable(place, value, tasksFileKeys).tasks;
};

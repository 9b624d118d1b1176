/**
 * Resolves the task of a session. A task is bundled with the world, stored in the project, or given inline. Stored and
 * inline tasks are checked against the world's contract before anything is opened. The session keeps its own copy of
 * the task.
 */

import type { TaskForm } from '#domain/session.ts';
import type { Contract } from '#language/contract.ts';
import type { Task } from '#language/task.ts';
import { specOfBundled } from '#wire/public-api/worlds/bundled-task.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { type KeptOpen, type KeptTask, keepTask } from '../../base/bodies/keep.ts';
import { hashOfSpec } from '../../base/json/canonical.ts';
import type { Version } from '../../worlds/caches/versions.ts';
import { checkSpec, invalidTask } from '../../worlds/tasks/check.ts';
import { getSpec } from '../../worlds/tasks/stored.ts';
import type { SessionParts } from '../parts.ts';

/** Task of a session: its spec as JSON text, and the members that the service itself uses. */
export type SessionTask = KeptTask & {
  form: TaskForm;
  /** Hash of the spec, in the form `sha256:…`. */
  hash: string;
  /** Id of a stored task; null for a bundled or inline task. */
  id: string | null;
  version: number | null;
};

const unstored = { id: null, version: null };

type TaskGiven = NonNullable<KeptOpen['task']>;

const findBundled = (contract: Contract, name: string): Task => {
  const task = contract.tasks.find((candidate) => candidate.name === name);
  if (task !== undefined) return task;
  const names = contract.tasks.map((candidate) => candidate.name);
  const known =
    names.length === 0 ? 'the world bundles no task' : `its tasks are ${names.join(', ')}`;
  throw invalidTask([{ path: ['task'], message: `the world has no task "${name}"; ${known}` }]);
};

/** Returns the spec of a task that a version bundles. */
export const bundledSpec = ({ contract }: Version, name: string): TaskSpec =>
  specOfBundled(findBundled(contract, name));

/**
 * Cache of bundled tasks in the form that sessions store, by the task in the contract. It never becomes stale, because
 * versions are immutable.
 */
const made = new WeakMap<Task, SessionTask>();

const toBundled = (task: Task): SessionTask => {
  const known = made.get(task);
  if (known !== undefined) return known;
  const spec = specOfBundled(task);
  const bundled: SessionTask = {
    form: 'bundled',
    ...keepTask(spec),
    hash: hashOfSpec(spec),
    ...unstored,
  };
  made.set(task, bundled);
  return bundled;
};

/**
 * Returns the task of a session to be opened; undefined if the request names none. A bundled task is looked up in the
 * version. A stored or inline task is checked against the version. Throws `invalid`, with the wrong field, if the task
 * cannot be used.
 */
export const resolveTask = async (
  parts: SessionParts,
  version: Version,
  given: TaskGiven | undefined,
  signal?: AbortSignal,
): Promise<SessionTask | undefined> => {
  if (given === undefined) return undefined;
  if (typeof given === 'string') return toBundled(findBundled(version.contract, given));
  if ('id' in given) {
    const stored = await getSpec(parts, version.projectId, given);
    // The session shows the hash that is in the task's history.
    await checkSpec(parts, version, stored.task, signal);
    const { id, version: number, contentHash: hash } = stored;
    return { form: 'stored', ...stored.task, hash, id, version: number };
  }
  const { inline } = given;
  const checked = await checkSpec(parts, version, inline, signal);
  return { form: 'inline', ...inline, ...checked, ...unstored };
};

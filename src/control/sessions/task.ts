/**
 * The task of a session: one that the world bundles, or one given inline, which is checked against the
 * world's contract before anything is opened. The session keeps its own copy.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import {
  type Check,
  type Contract,
  type Grader,
  linkedTool,
  type Task,
} from '#language/contract.ts';
import type { TaskSpec } from '#wire/public-api/session.ts';
import { hashOfSpec, type KeptOpen, type KeptTask, keepTask } from '../bodies/keep.ts';
import type { Version } from '../memory/versions.ts';
import type { Parts } from '../parts.ts';

/** The spec of a task as JSON text, and what the service itself looks at of it. */
export type SessionTask = KeptTask & {
  form: 'bundled' | 'inline';
  /** `sha256:…` of the spec. */
  hash: string;
};

type TaskGiven = NonNullable<KeptOpen['task']>;
type GraderSpec = NonNullable<TaskSpec['grader']>;
type Assertion = Extract<GraderSpec, { kind: 'assertions' }>['checks'][number];

const toAssertion = ({ name, entity, where, count }: Check): Assertion => ({
  name,
  entity,
  where,
  ...(count === null ? {} : { count }),
});

const invalidTask = (fields: FieldProblem[], message = fields[0]?.message ?? ''): AppError =>
  new AppError('invalid', message, { fields });

const toGrader = (grader: Grader): GraderSpec =>
  grader.kind === 'assertions'
    ? { kind: 'assertions', checks: grader.checks.map(toAssertion) }
    : grader;

/** A bundled task in the form that inline ones have. */
const toSpec = ({ name, instruction, tools, seed, grader }: Task): TaskSpec => ({
  name,
  ...(instruction === null ? {} : { instruction }),
  ...(tools === null ? {} : { tools }),
  seed,
  ...(grader === null ? {} : { grader: toGrader(grader) }),
});

const findBundled = (contract: Contract, name: string): Task => {
  const task = contract.tasks.find((candidate) => candidate.name === name);
  if (task !== undefined) return task;
  const names = contract.tasks.map((candidate) => candidate.name);
  const known =
    names.length === 0 ? 'the world bundles no task' : `its tasks are ${names.join(', ')}`;
  throw invalidTask([{ path: ['task'], message: `the world has no task "${name}"; ${known}` }]);
};

/** The spec of a task that a version bundles. */
export const bundledSpec = ({ contract }: Version, name: string): TaskSpec =>
  toSpec(findBundled(contract, name));

const outOfLimits = 'the task cannot be checked within the time and memory that there is for it';

/** Which part of a task is at fault when checking it ended at a limit: the one that takes longest. */
const heaviestPart = ({ grader }: KeptTask): string[] =>
  grader === 'sql' ? ['task', 'grader', 'source'] : ['task', 'seed', 'rows'];

/** What strangers wrote is evaluated where it can be ended. Answers the hash of the spec. */
const checkSpec = async (
  { blobs, compiler }: Parts,
  { bundle, projectId, links }: Version,
  task: KeptTask,
  signal: AbortSignal | undefined,
): Promise<string> => {
  const world = { digest: bundle, project: projectId };
  const linkedTools = links.flatMap(({ alias, tools }) =>
    tools.map((tool) => linkedTool(alias, tool)),
  );
  const job = { kind: 'check-task', world, specJson: task.specJson, linkedTools } as const;
  const asker = { project: projectId, signal, supply: () => blobs.get(bundle) };
  const checked = await compiler.run(job, asker);
  if (checked.ok) return checked.hash;
  if (!('fields' in checked))
    throw invalidTask([{ path: heaviestPart(task), message: outOfLimits }]);
  const { fields } = checked;
  throw invalidTask(fields, `the task does not fit the world: ${fields[0]?.message}`);
};

/** What was made of a bundled task once; a version never changes, and sessions are opened often. */
const made = new WeakMap<Task, SessionTask>();

const toBundled = (task: Task): SessionTask => {
  const known = made.get(task);
  if (known !== undefined) return known;
  const spec = toSpec(task);
  const bundled: SessionTask = { form: 'bundled', ...keepTask(spec), hash: hashOfSpec(spec) };
  made.set(task, bundled);
  return bundled;
};

/** Finds or checks the task that a session is to be opened on; throws `invalid` naming the field. */
export const resolveTask = async (
  parts: Parts,
  version: Version,
  given: TaskGiven | undefined,
  signal?: AbortSignal,
): Promise<SessionTask | undefined> => {
  if (given === undefined) return undefined;
  if (typeof given === 'string') return toBundled(findBundled(version.contract, given));
  if ('id' in given) {
    const message =
      'stored tasks are not served by this version; name a bundled task or give a spec';
    throw invalidTask([{ path: ['task', 'id'], message }]);
  }
  const { inline } = given;
  const hash = await checkSpec(parts, version, inline, signal);
  return { form: 'inline', ...inline, hash };
};

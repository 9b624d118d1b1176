/**
 * The task of a session: one that the world bundles, or one given inline, which is checked against the
 * world's contract before anything is opened. The session keeps its own copy.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import { createConditionCheck } from '#language/conditions.ts';
import type { Check, Contract, Grader, Task } from '#language/contract.ts';
import type { OpenSessionBody, TaskSpec } from '#wire/public-api/session.ts';
import { hashOf } from '../canonical.ts';
import type { Compiler } from '../worlds/compiler.ts';
import type { Version } from '../worlds/versions.ts';

export type SessionTask = {
  form: 'bundled' | 'inline';
  name: string | null;
  spec: TaskSpec;
  /** `sha256:…` of the spec. */
  hash: string;
};

type TaskGiven = NonNullable<OpenSessionBody['task']>;
type GraderSpec = NonNullable<TaskSpec['grader']>;
type Assertion = Extract<GraderSpec, { kind: 'assertions' }>['checks'][number];

const mostProblems = 50;

const toAssertion = ({ name, entity, where, count }: Check): Assertion => ({
  name,
  entity,
  where,
  ...(count === null ? {} : { count }),
});

const refuse = (fields: FieldProblem[], message = fields[0]?.message ?? ''): AppError =>
  new AppError('invalid', message, { fields });

const toGrader = (grader: Grader): GraderSpec =>
  grader.kind === 'assertions'
    ? { kind: 'assertions', checks: grader.checks.map(toAssertion) }
    : grader;

/** A bundled task in the form that inline ones have. */
const toSpec = ({ name, instruction, seed, grader }: Task): TaskSpec => ({
  name,
  ...(instruction === null ? {} : { instruction }),
  seed,
  ...(grader === null ? {} : { grader: toGrader(grader) }),
});

const findBundled = (contract: Contract, name: string): Task => {
  const task = contract.tasks.find((candidate) => candidate.name === name);
  if (task !== undefined) return task;
  const names = contract.tasks.map((candidate) => candidate.name);
  const known =
    names.length === 0 ? 'the world bundles no task' : `its tasks are ${names.join(', ')}`;
  throw refuse([{ path: ['task'], message: `the world has no task "${name}"; ${known}` }]);
};

const checkSeed = (version: Version, seed: TaskSpec['seed']): FieldProblem[] => {
  const problems: FieldProblem[] = [];
  const checker = version.rowChecker();
  for (const [entity, rows] of Object.entries(seed?.rows ?? {})) {
    for (const [index, row] of rows.entries()) {
      if (problems.length >= mostProblems) return problems;
      for (const { pointer, detail } of checker.check(entity, row)) {
        const place = pointer.split('/').slice(1);
        problems.push({
          path: ['task', 'seed', 'rows', entity, String(index), ...place],
          message: detail,
        });
      }
    }
  }
  return problems;
};

const checkAssertions = (contract: Contract, checks: readonly Assertion[]): FieldProblem[] => {
  const checkConditions = createConditionCheck(contract);
  return checks.flatMap(({ entity, where }, index) => {
    const path = ['task', 'grader', 'checks', String(index)];
    return checkConditions(entity, where).map(({ key, message }) => ({
      path: key === undefined ? [...path, 'entity'] : [...path, 'where', key],
      message,
    }));
  });
};

const checkSpec = (version: Version, { seed, grader }: TaskSpec): void => {
  const assertions = grader?.kind === 'assertions' ? grader.checks : [];
  const problems = [
    ...checkSeed(version, seed),
    ...checkAssertions(version.contract, assertions),
  ].slice(0, mostProblems);
  if (problems.length > 0) {
    throw refuse(problems, `the task does not fit the world: ${problems[0]?.message}`);
  }
};

/** Strangers' queries are checked where their worlds are compiled, too. */
const checkQuery = async (
  compiler: Compiler,
  { contract: { entities } }: Version,
  { grader }: TaskSpec,
): Promise<void> => {
  if (grader?.kind !== 'sql') return;
  const judged = await compiler.run({ kind: 'judge', source: grader.source, entities });
  if (judged.ok) return;
  const [problem] = judged.problems;
  const isFault = problem?.code === 'bad_verifier';
  const message = isFault
    ? [problem.message, problem.hint ?? []].flat().join('; ')
    : 'the query cannot be checked within the time and memory that there is for it';
  throw refuse([{ path: ['task', 'grader', 'source'], message }]);
};

const isStored = (task: TaskGiven): task is { id: string } =>
  typeof task === 'object' && 'id' in task;

const hashSpec = (spec: TaskSpec): string => `sha256:${hashOf(spec)}`;

/** Finds or checks the task that a session is to be opened on; throws `invalid` naming the field. */
export const resolveTask = async (
  compiler: Compiler,
  version: Version,
  given: TaskGiven | undefined,
): Promise<SessionTask | undefined> => {
  if (given === undefined) return undefined;
  if (typeof given === 'string') {
    const spec = toSpec(findBundled(version.contract, given));
    return { form: 'bundled', name: given, spec, hash: hashSpec(spec) };
  }
  if (isStored(given)) {
    const message =
      'stored tasks are not served by this version; name a bundled task or give a spec';
    throw refuse([{ path: ['task', 'id'], message }]);
  }
  checkSpec(version, given);
  await checkQuery(compiler, version, given);
  return { form: 'inline', name: given.name ?? null, spec: given, hash: hashSpec(given) };
};

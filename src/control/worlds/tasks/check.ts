/**
 * Checks a task against the version of its world. This evaluates user input, so it runs in a compile process, which can
 * be killed.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import { linkedTool } from '#language/contract.ts';
import type { KeptTask } from '../../base/bodies/keep.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';

/** Builds the error for a refused task, with the wrong fields. */
export const invalidTask = (fields: FieldProblem[], message = fields[0]?.message ?? ''): AppError =>
  new AppError('invalid', message, { fields });

const outOfLimits = 'the task cannot be checked within the limits on time and memory';

/**
 * Returns the path of the part of a task that usually takes longest to check. It is reported when a limit ended the
 * check.
 */
const heaviestPart = ({ grader }: Pick<KeptTask, 'grader'>): string[] =>
  grader === 'sql' ? ['task', 'grader', 'source'] : ['task', 'seed', 'rows'];

/**
 * Returns the spec in the form in which it is stored, with its hash. The rows are redacted if the spec asks for that.
 * Throws `invalid` with the problems; their paths are relative to `task`.
 */
export const checkSpec = async (
  { blobs, compiler }: WorldParts,
  { bundle, projectId, links }: Version,
  task: Pick<KeptTask, 'grader' | 'specJson'>,
  signal: AbortSignal | undefined,
): Promise<{ specJson: string; hash: string }> => {
  const world = { digest: bundle, project: projectId };
  const linkedTools = links.flatMap(({ alias, tools }) =>
    tools.map((tool) => linkedTool(alias, tool)),
  );
  const job = { kind: 'check-task', world, specJson: task.specJson, linkedTools } as const;
  const context = { project: projectId, signal, supply: () => blobs.get(bundle) };
  const checked = await compiler.run(job, context);
  if (checked.ok) return { specJson: checked.specJson ?? task.specJson, hash: checked.hash };
  if (!('fields' in checked))
    throw invalidTask([{ path: heaviestPart(task), message: outOfLimits }]);
  const { fields } = checked;
  throw invalidTask(fields, `the task does not fit the world: ${fields[0]?.message}`);
};

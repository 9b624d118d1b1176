/**
 * Holds a task to the version of a world that it is for. What strangers wrote is evaluated where it can be ended: in a
 * compile process.
 */
import { AppError, type FieldProblem } from '#domain/error.ts';
import { linkedTool } from '#language/contract.ts';
import type { KeptTask } from '../../base/bodies/keep.ts';
import type { Version } from '../caches/versions.ts';
import type { WorldParts } from '../parts.ts';

/** The refusal of a task, with the fields that are at fault. */
export const invalidTask = (fields: FieldProblem[], message = fields[0]?.message ?? ''): AppError =>
  new AppError('invalid', message, { fields });

const outOfLimits = 'the task cannot be checked within the time and memory that there is for it';

/** Which part of a task is at fault when checking it ended at a limit: the one that takes longest. */
const heaviestPart = ({ grader }: Pick<KeptTask, 'grader'>): string[] =>
  grader === 'sql' ? ['task', 'grader', 'source'] : ['task', 'seed', 'rows'];

/** Answers the spec as it is kept, its rows redacted where it asks for that, with its hash; throws `invalid` with what does not fit, by its place below `task`. */
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
  const asker = { project: projectId, signal, supply: () => blobs.get(bundle) };
  const checked = await compiler.run(job, asker);
  if (checked.ok) return { specJson: checked.specJson ?? task.specJson, hash: checked.hash };
  if (!('fields' in checked))
    throw invalidTask([{ path: heaviestPart(task), message: outOfLimits }]);
  const { fields } = checked;
  throw invalidTask(fields, `the task does not fit the world: ${fields[0]?.message}`);
};

/** Checks items of datasets against their schemas, in a compile process. */

import { AppError, type FieldProblem } from '#domain/error.ts';
import { own } from '#domain/json.ts';
import type { DatasetRow } from '../../db/evaluation/datasets.ts';
import type { CheckedItems } from '../../worlds/compile/check-items.ts';
import type { Compiler } from '../../worlds/compile/compiler.ts';

/** Schemas of a dataset, as JSON text. */
export type Schemas = Pick<DatasetRow, 'inputSchema' | 'expectedOutputSchema'>;
type Item = { input: string | null; output: string | null };

const limitWords: Readonly<Record<string, string>> = {
  out_of_time: 'take too long to check against the schemas of the dataset',
  out_of_memory: 'take too much memory to check against the schemas of the dataset',
};

/** Returns true if the dataset has at least one schema. */
export const hasSchemas = ({ inputSchema, expectedOutputSchema }: Schemas): boolean =>
  inputSchema !== null || expectedOutputSchema !== null;

/**
 * Returns the problems that the schemas of a dataset find in items. Throws `invalid` if the schemas themselves are
 * invalid or the check exceeds a limit, and `exhausted` if the project has used up its CPU time.
 */
export const checkItems = async (
  compiler: Compiler,
  projectId: string,
  { inputSchema, expectedOutputSchema }: Schemas,
  items: readonly Item[],
): Promise<CheckedItems['ofItems']> => {
  const job = { kind: 'check-items' as const, inputSchema, expectedOutputSchema, items };
  const checked = await compiler.run(job, { project: projectId });
  if (!checked.ok) {
    const [problem] = checked.problems;
    const words = own(limitWords, problem?.code ?? '') ?? problem?.message ?? 'cannot be checked';
    throw new AppError('invalid', `the values ${words}; make them simpler`, {
      fields: [{ path: ['inputSchema'], message: words }],
    });
  }
  throwOfSchemas(checked.ofSchemas);
  return checked.ofItems;
};

const throwOfSchemas = (fields: FieldProblem[]): void => {
  const [first] = fields;
  if (first === undefined) return;
  const [field, ...path] = first.path;
  const place = path.length === 0 ? field : `${field} at /${path.join('/')}`;
  throw new AppError('invalid', `invalid request: ${place}: ${first.message}`, { fields });
};

/** Throws `invalid` if an item does not fit the schemas of its dataset. */
export const refuseMisfit = async (
  compiler: Compiler,
  projectId: string,
  dataset: DatasetRow,
  item: Item,
): Promise<void> => {
  const [misfit] = await checkItems(compiler, projectId, dataset, [item]);
  const [first] = misfit?.fields ?? [];
  if (misfit === undefined || first === undefined) return;
  const message = `Dataset item validation failed: ${first.path.join('.')} ${first.message}`;
  throw new AppError('invalid', message, { fields: misfit.fields });
};

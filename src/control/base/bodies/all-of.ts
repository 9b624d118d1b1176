/**
 * Runs several checks of a request, so that the answer lists the problems that all of them found, not only those of the
 * first check that failed.
 */
import { AppError } from '#domain/error.ts';

type Makes<Made extends readonly unknown[]> = {
  [Index in keyof Made]: () => Made[Index] | Promise<Made[Index]>;
};

const isInvalid = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'invalid' && error.fields.length > 0;

/**
 * Returns the result of each function. If several functions throw `invalid`, throws one `invalid` error with the fields
 * of all of them. An error of any other kind takes precedence.
 */
export const allOf = async <Made extends readonly unknown[]>(
  ...makes: Makes<Made>
): Promise<Made> => {
  const ends = await Promise.allSettled(makes.map(async (make) => make()));
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  const [first] = failures;
  const other = failures.find((failure) => !isInvalid(failure));
  if (other !== undefined) throw other;
  if (failures.length > 1) {
    const fields = (failures as AppError[]).flatMap((failure) => failure.fields);
    throw new AppError('invalid', (first as AppError).message, { fields });
  }
  if (first !== undefined) throw first;
  return ends.map((end) => (end as PromiseFulfilledResult<unknown>).value) as unknown as Made;
};

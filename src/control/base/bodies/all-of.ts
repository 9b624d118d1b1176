/**
 * Checks several parts of a request, so that the answer lists all that is wrong with it, and not only what
 * happened to be checked first.
 */
import { AppError } from '#domain/error.ts';

type Makes<Made extends readonly unknown[]> = {
  [Index in keyof Made]: () => Made[Index] | Promise<Made[Index]>;
};

const isInvalid = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'invalid' && error.fields.length > 0;

/**
 * What each of them makes. When some fail, throws one `invalid` with the fields of all; an error of another
 * kind goes before those.
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

/** How a call says no: an error for the caller, thrown so that the call's transaction is undone. */
import type { CallError } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import type { RowProblem } from '#language/rows.ts';
import { StoreRefusal } from '#store/refusal.ts';

export class CallFailure extends Error {
  readonly error: CallError;

  constructor(error: CallError) {
    super(`${error.code}: ${error.message}`);
    this.error = error;
  }
}

/** Fails for a value that does not fit its schema, naming the first place and how many there are. */
export const failForProblems = (
  code: 'invalid_input' | 'invalid_output',
  what: string,
  problems: readonly RowProblem[],
): void => {
  const [first, ...others] = problems;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw new CallFailure({
    code,
    message: `${what}${first.pointer} ${first.detail}${more}`,
    path: first.pointer,
    ...(others.length === 0 ? {} : { details: { problems } }),
  });
};

const describeRefusal = ({ kind, message, entity, field, pointer, index }: StoreRefusal) => ({
  code: kind,
  message,
  ...(pointer === undefined ? {} : { path: pointer }),
  details: {
    entity,
    ...(field === undefined ? {} : { field }),
    ...(index === undefined ? {} : { index }),
  },
});

/** What a caller may know about anything a call threw; undefined for a fault of the host. */
export const callErrorOf = (error: unknown): CallError | undefined => {
  if (error instanceof CallFailure) return error.error;
  if (error instanceof StoreRefusal) return describeRefusal(error);
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return undefined;
};

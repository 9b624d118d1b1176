/**
 * Error that fails a call. Throwing it rolls the call's transaction back.
 *
 * `path` is a JSON pointer into the call's input. It is present only if a part of the input is at fault, so that the
 * caller can change that part and try again. Pointers into anything else are in `details`.
 */
import type { CallError } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import type { RowProblem } from '#language/schema/checkers.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { MetFault } from '../../session/faults.ts';

export class CallFailure extends Error {
  readonly error: CallError;
  /** Declared faults that applied to the call, for the ledger only. */
  readonly faults: readonly MetFault[];

  constructor(error: CallError, faults: readonly MetFault[] = []) {
    super(`${error.code}: ${error.message}`);
    this.error = error;
    this.faults = faults;
  }
}

/** Returns problems in the form that callers get: `path` is a JSON pointer into the value. */
const listProblems = (problems: readonly RowProblem[]): { path: string; message: string }[] =>
  problems.map(({ pointer, detail }) => ({ path: pointer, message: detail }));

/** Returns a summary such as `/repo must be string, is number 5 (and 2 more)`. */
const sumUp = ([first, ...others]: readonly RowProblem[]): string => {
  const place = first?.pointer === '' ? 'it' : first?.pointer;
  return `${place} ${first?.detail}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
};

/**
 * Throws if there are problems, which mean that the input does not fit its tool's schema. The error's details list
 * every problem; its message describes the first.
 */
export const failForInput = (problems: readonly RowProblem[]): void => {
  const [first] = problems;
  if (first === undefined) return;
  throw new CallFailure({
    code: 'invalid_input',
    message: `the input does not fit the tool's schema: ${sumUp(problems)}`,
    path: first.pointer,
    details: { problems: listProblems(problems) },
  });
};

/**
 * Throws if an output does not fit the schema that its tool declares. This is a mistake of the world's author. The
 * caller cannot avoid it by another input, so the error has no `path`. The problems have pointers into the output.
 */
export const failForOutput = (
  tool: { name: string; source: string },
  problems: readonly RowProblem[],
): void => {
  if (problems.length === 0) return;
  throw new CallFailure({
    code: 'invalid_output',
    message: `the world is at fault, not the call: the output of ${tool.name} (${tool.source}) does not fit the output schema that the tool declares: ${sumUp(problems)}. Nothing was changed`,
    details: { tool: tool.name, source: tool.source, problems: listProblems(problems) },
  });
};

/**
 * Returns the error for a refusal of the store. `rowAt` points to the refused row in the call's input. Without `rowAt`,
 * the row did not come from the caller, so its place is only in `details`.
 */
export const errorOfRefusal = (refusal: StoreRefusal, rowAt?: string): CallError => {
  const { kind, message, entity, field, pointer, index } = refusal;
  return {
    code: kind,
    message,
    ...(rowAt === undefined || pointer === undefined ? {} : { path: `${rowAt}${pointer}` }),
    details: {
      entity,
      ...(field === undefined ? {} : { field }),
      ...(pointer === undefined ? {} : { pointer }),
      ...(index === undefined ? {} : { index }),
    },
  };
};

/** Returns the part of a thrown error that a caller may see; undefined for a bug of the host. */
export const callErrorOf = (error: unknown): CallError | undefined => {
  if (error instanceof CallFailure) return error.error;
  if (error instanceof StoreRefusal) return errorOfRefusal(error);
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return undefined;
};

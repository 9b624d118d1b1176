/**
 * How a call says no: an error for the caller, thrown so that the call's transaction is undone.
 *
 * `path` is a JSON pointer into the call's input, there only when a place in the input is at fault; a
 * caller that changes what is there may try again. Other places stand in `details`.
 */
import type { CallError } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import type { RowProblem } from '#language/schema/checkers.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { MetFault } from '../../session/faults.ts';

export class CallFailure extends Error {
  readonly error: CallError;
  /** Declared faults that the call met, for the ledger alone. */
  readonly faults: readonly MetFault[];

  constructor(error: CallError, faults: readonly MetFault[] = []) {
    super(`${error.code}: ${error.message}`);
    this.error = error;
    this.faults = faults;
  }
}

/** Problems as callers read them: `path` is a JSON pointer into the value. */
const listProblems = (problems: readonly RowProblem[]): { path: string; message: string }[] =>
  problems.map(({ pointer, detail }) => ({ path: pointer, message: detail }));

/** `/repo must be string, is number 5 (and 2 more)`. */
const sumUp = ([first, ...others]: readonly RowProblem[]): string => {
  const place = first?.pointer === '' ? 'it' : first?.pointer;
  return `${place} ${first?.detail}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
};

/** Fails for an input that does not fit its tool's schema, naming every place, the first in words. */
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
 * Fails for an output that does not fit the schema that its tool declares. That is the world's fault:
 * no other input is asked for, so there is no `path`; the problems are places in the output.
 */
export const failForOutput = (
  tool: { name: string; source: string },
  problems: readonly RowProblem[],
): void => {
  if (problems.length === 0) return;
  throw new CallFailure({
    code: 'invalid_output',
    message: `the world is at fault, not the call: what ${tool.name} answered (${tool.source}) does not fit the output schema that the tool declares: ${sumUp(problems)}. Nothing was changed`,
    details: { tool: tool.name, source: tool.source, problems: listProblems(problems) },
  });
};

/**
 * What the store refused, for a caller. `rowAt` is the pointer to the refused row in the call's input;
 * without it the row is not the caller's, and the place in it is told in `details`.
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

/** What a caller may know about anything a call threw; undefined for a fault of the host. */
export const callErrorOf = (error: unknown): CallError | undefined => {
  if (error instanceof CallFailure) return error.error;
  if (error instanceof StoreRefusal) return errorOfRefusal(error);
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return undefined;
};

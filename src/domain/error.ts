/**
 * The one error type of the project. A program throws it for anything a caller did or must know;
 * adapters at the edges (HTTP, CLI) translate it, see `wire/errors.ts`. Everything else that is
 * thrown counts as `internal`: it is logged once, with its causes, and hidden from callers.
 *
 * A simulated vendor's errors are data of a world and never an `AppError`.
 */
export const errorCodes = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'exhausted',
  'unavailable',
  'timeout',
  'internal',
] as const;

/** What kind of refusal it is; `wire/errors.ts` gives each its HTTP status. */
export type ErrorCode = (typeof errorCodes)[number];

/** A problem with one field of a request: where it lies and what is wrong with it. */
export type FieldProblem = { path: string[]; message: string };

export type AppErrorOptions = {
  /** Facts for a program: extra members of the error body, such as `stamp` or `retryAfterMs`. */
  detail?: Record<string, unknown>;
  /** Further members of the body, such as signed addresses, which the caller is to use: nothing in them is hidden. */
  given?: Record<string, string>;
  /** For `invalid`: the fields at fault. They become the list `error` of the body. */
  fields?: FieldProblem[];
  cause?: unknown;
};

/**
 * A refusal with a message for a person: it names the thing, the place and the way out.
 *
 * @example throw new AppError('conflict', `world slug "${slug}" is taken in this project`)
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly detail: Record<string, unknown>;
  readonly given: Record<string, string>;
  readonly fields: FieldProblem[];

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.detail = options.detail ?? {};
    this.given = options.given ?? {};
    this.fields = options.fields ?? [];
  }
}

/** The message of anything thrown, with the messages of its causes, on one line. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // Of several that something was released with, none hides another.
  if (error instanceof SuppressedError) {
    return `${describeError(error.error)}; ${describeError(error.suppressed)}`;
  }
  const message = error.message || error.name;
  return error.cause === undefined ? message : `${message}: ${describeError(error.cause)}`;
};

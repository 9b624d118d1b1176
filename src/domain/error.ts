/**
 * Only error type of the project. A program throws it for any failure that the caller caused or has to know about;
 * adapters at the edges (HTTP, CLI) translate it, see `wire/errors.ts`.
 *
 * Every other thrown value counts as `internal`: it is logged once, with its causes, and hidden from callers. A
 * simulated vendor's errors are data of a world and never an `AppError`.
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

/** Kind of an error; `wire/errors.ts` maps each kind to its HTTP status. */
export type ErrorCode = (typeof errorCodes)[number];

/** A problem with one field of a request: its path and a message. */
export type FieldProblem = { path: string[]; message: string };

export type AppErrorOptions = {
  /** Facts that a client program can use: further members of the error body, such as `stamp` or `retryAfterMs`. */
  detail?: Record<string, unknown>;
  /** Further members of the error body that the caller uses, such as signed URLs; secrets in them are not masked. */
  given?: Record<string, string>;
  /** Fields at fault, for an `invalid` error. They become the list `error` of the body. */
  fields?: FieldProblem[];
  cause?: unknown;
};

/**
 * An error with a message for a person, which names the thing, the place and the way out.
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

/** Returns the message of any thrown value, followed by the messages of its causes, on one line. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // A `SuppressedError` carries two errors, of which neither may hide the other.
  if (error instanceof SuppressedError) {
    return `${describeError(error.error)}; ${describeError(error.suppressed)}`;
  }
  const message = error.message || error.name;
  return error.cause === undefined ? message : `${message}: ${describeError(error.cause)}`;
};

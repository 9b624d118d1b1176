/** Translates errors of the database driver into errors of the program. */
import { AppError, describeError } from '#domain/error.ts';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** SQLSTATE classes and system errors after which a retry of the same request may succeed. */
const passing = [
  /^08/, // connection exceptions
  /^57P0/, // the server shuts down or starts up
  /^53/, // out of connections, memory, disk
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENOENT)$/,
];

/** Messages of driver errors that have no code. */
const passingMessages =
  /connection terminated|connection error|timeout exceeded when trying to connect|not queryable|pool after calling end/i;

/**
 * SQLSTATEs for values that PostgreSQL cannot store: a NUL character, a number out of range, JSON nested too deeply.
 */
const unfitValue = /^(?:22003|22021|22P02|22P05|54001)$/;

const cancelled = '57014';
/** SQLSTATEs for conflicts with other transactions: a serialization failure, a deadlock, a lock timeout. */
const contended = /^(?:40001|40P01|55P03)$/;
const diskFull = '53100';

/** Returns true if a write failed because the disk of the database is full. */
export const isDiskFull = (error: unknown): boolean => codeOf(error) === diskFull;

/** SQLSTATEs for a missing table or schema: the database was emptied while this program was running. */
const lacking = /^(?:42P01|3F000)$/;

/** Returns an `AppError` if the caller can act on the error; otherwise the error unchanged. */
export const translateDatabaseError = (error: unknown): unknown => {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (isDiskFull(error)) {
    const detail = { full: 'database' };
    return new AppError('unavailable', 'the disk of the database is full', {
      cause: error,
      detail,
    });
  }
  if (contended.test(code)) {
    const message = 'another request is writing the same data; try again in a moment';
    return new AppError('unavailable', message, { cause: error, detail: { retryAfterMs: 1_000 } });
  }
  if (passing.some((pattern) => pattern.test(code)) || isOfConnection(error, code)) {
    return new AppError('unavailable', 'the database does not answer; try again in a moment', {
      cause: error,
    });
  }
  if (code === cancelled) {
    return new AppError('timeout', 'the database took too long to answer', { cause: error });
  }
  if (lacking.test(code)) {
    const message = 'the database lacks tables of this release; try again in a moment';
    return new AppError('unavailable', message, { cause: error });
  }
  if (unfitValue.test(code)) {
    const message = `a value in the request cannot be stored: ${describeError(error)}`;
    return new AppError('invalid', message, { cause: error });
  }
  return error;
};

/** Returns true for connection failures without a code, and for errors that end the connection, whatever their code. */
const isOfConnection = (error: unknown, code: string): boolean =>
  error instanceof Error &&
  (('severity' in error && error.severity === 'FATAL') ||
    (code === '' && passingMessages.test(error.message)));

/** Returns true if a statement failed because of its values, so that it could succeed with other values. */
export const isValueError = (error: unknown): boolean =>
  (error instanceof AppError && error.code === 'invalid') || codeOf(error).startsWith('23');

/**
 * Returns true if a statement failed because of a conflict with another transaction: a serialization failure, a
 * deadlock or a lock timeout.
 */
export const isLockConflict = (error: unknown): boolean =>
  error instanceof AppError && contended.test(codeOf(error.cause));

/** Returns true if a statement failed because of a zero byte in a text or in JSON. */
export const isZeroByteError = (error: unknown): boolean =>
  error instanceof AppError && /^(?:22021|22P05)$/.test(codeOf(error.cause));

/** Returns true if the error is a violation of the given unique constraint or index. */
export const violates = (error: unknown, constraint: string): boolean =>
  codeOf(error) === '23505' &&
  error instanceof Error &&
  'constraint' in error &&
  error.constraint === constraint;

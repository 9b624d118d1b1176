/** What the database driver throws, in the terms of the program. */
import { AppError, describeError } from '#domain/error.ts';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** SQLSTATE classes and system errors after which the same request may work in a moment. */
const passing = [
  /^08/, // connection exceptions
  /^57P0/, // the server shuts down or starts up
  /^53/, // out of connections, memory, disk
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENOENT)$/,
];

/** The driver gives these no code. */
const passingMessages =
  /connection terminated|connection error|timeout exceeded when trying to connect|not queryable|pool after calling end/i;

/** Values that PostgreSQL cannot hold: a NUL character, a number out of range, JSON too deep. */
const unfitValue = /^(?:22003|22021|22P02|22P05|54001)$/;

const cancelled = '57014';
/** What others hold, or did, stood in its way: serialisation, a deadlock, a lock that it waited for too long. */
const contended = /^(?:40001|40P01|55P03)$/;
const diskFull = '53100';

/** Whether a write found no room on the disk of the database. */
export const isDiskFull = (error: unknown): boolean => codeOf(error) === diskFull;

/** No such table or schema: the database was emptied under the program. */
const lacking = /^(?:42P01|3F000)$/;

/** An `AppError` where the caller can act on what happened, else the error as it came. */
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
    const message = 'others are writing the same; try again in a moment';
    return new AppError('unavailable', message, { cause: error, detail: { retryAfterMs: 1_000 } });
  }
  if (passing.some((pattern) => pattern.test(code)) || isOfConnection(error, code)) {
    return new AppError('unavailable', 'the database does not answer; try again in a moment', {
      cause: error,
    });
  }
  if (code === cancelled) {
    return new AppError('timeout', 'the database took too long over this', { cause: error });
  }
  if (lacking.test(code)) {
    const message = 'the database lacks tables of this release; try again in a moment';
    return new AppError('unavailable', message, { cause: error });
  }
  if (unfitValue.test(code)) {
    const message = `a value in the request cannot be kept: ${describeError(error)}`;
    return new AppError('invalid', message, { cause: error });
  }
  return error;
};

/** Failures without a code of their own, and those that end a connection, whatever their code. */
const isOfConnection = (error: unknown, code: string): boolean =>
  error instanceof Error &&
  (('severity' in error && error.severity === 'FATAL') ||
    (code === '' && passingMessages.test(error.message)));

/** Whether a statement was refused for a value that it was given: others would have been taken. */
export const isOfValues = (error: unknown): boolean =>
  (error instanceof AppError && error.code === 'invalid') || codeOf(error).startsWith('23');

/** Whether a statement did not get what others held. */
export const isOfLock = (error: unknown): boolean =>
  error instanceof AppError && contended.test(codeOf(error.cause));

/** Whether a statement was refused for a zero byte in a text or in JSON. */
export const isOfZeroByte = (error: unknown): boolean =>
  error instanceof AppError && /^(?:22021|22P05)$/.test(codeOf(error.cause));

/** Whether an error says that a row broke this unique constraint or index. */
export const violates = (error: unknown, constraint: string): boolean =>
  codeOf(error) === '23505' &&
  error instanceof Error &&
  'constraint' in error &&
  error.constraint === constraint;

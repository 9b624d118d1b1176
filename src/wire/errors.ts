/**
 * The one table between error codes and HTTP statuses, used by servers to answer and by clients to
 * read an answer back into an `AppError`.
 *
 * A body always has `message`. `error` is the code, or for a validation failure the list of fields at
 * fault, each `{path, message}`. Further members are the error's `detail`; an `error` among them is a closer word than
 * the code.
 */

import { AppError, type ErrorCode, errorCodes, type FieldProblem } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';

const statusByCode: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  exhausted: 429,
  internal: 500,
  unavailable: 503,
  timeout: 524,
};

export type ErrorBody = {
  message: string;
  error: string | FieldProblem[];
  [detail: string]: unknown;
};

/** Status and body with which a server answers anything thrown. Unknown errors tell nothing. */
export const toErrorAnswer = (error: unknown): { status: number; body: ErrorBody } => {
  if (!(error instanceof AppError)) {
    return { status: 500, body: { message: 'internal error', error: 'internal' } };
  }
  const { error: word = error.code } = error.detail;
  const kind = error.fields.length > 0 ? error.fields : String(word);
  return {
    status: statusByCode[error.code],
    body: { ...error.detail, message: error.message, error: kind },
  };
};

/** What proxies answer for a server that took too long. */
const proxyTimeout = 504;

const codeByStatus = (status: number): ErrorCode => {
  if (status === proxyTimeout) return 'timeout';
  const known = errorCodes.find((code) => statusByCode[code] === status);
  if (known !== undefined) return known;
  return status >= 500 ? 'unavailable' : 'invalid';
};

/** Reads an error answer back. A body that is not ours still becomes an `AppError` with its status. */
export const fromErrorAnswer = (status: number, body: unknown): AppError => {
  const record = isObject(body) ? body : {};
  const { message, error, ...detail } = record;
  const named = errorCodes.find((code) => code === error);
  const isWord = typeof error === 'string' && named === undefined;
  return new AppError(
    named ?? codeByStatus(status),
    typeof message === 'string' ? message : `the server answered ${status}`,
    {
      detail: { ...detail, ...(isWord ? { error } : {}), status },
      fields: Array.isArray(error) ? (error as FieldProblem[]) : [],
    },
  );
};

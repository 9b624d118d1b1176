/**
 * Mapping between error codes and HTTP statuses. Servers use it to answer, and clients to turn an answer back into an
 * `AppError`.
 * A body always has `message`. `error` is the code; for a validation failure it is the list of fields at fault, each
 * `{path, message}`. Further members are the error's `detail`; if `detail` has an `error`, that more specific word
 * replaces the code.
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

/**
 * Returns the status and body with which a server answers a thrown value. The answer to an unknown error reveals
 * nothing about it.
 */
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

/** Status that proxies answer if the server behind them took too long. */
const proxyTimeout = 504;

const codeByStatus = (status: number): ErrorCode => {
  if (status === proxyTimeout) return 'timeout';
  const known = errorCodes.find((code) => statusByCode[code] === status);
  if (known !== undefined) return known;
  return status >= 500 ? 'unavailable' : 'invalid';
};

/**
 * Turns an error answer back into an `AppError`. A body that does not come from this service still becomes an
 * `AppError`, with the code of its status.
 */
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

/**
 * Turns every error of a request into the service's common error answer, and logs the errors that are the service's own
 * fault.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hideCredentials } from '#domain/credentials.ts';
import { cut } from '#domain/cut.ts';
import { AppError, describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { isPublicAccess } from '#wire/access.ts';
import { type ErrorBody, toErrorAnswer } from '#wire/errors.ts';
import type { Access } from '#wire/operation.ts';
import { configOf, isProtobuf, type RouteConfig, sendBytes } from './answers.ts';
import { protobufType, writeRefusal } from './body-forms.ts';

/** Header with the id of a request. All programs that the request passes through log this id. */
export const requestIdHeader = 'x-request-id';
/** Maximum length of the part of an unknown path that an answer quotes, in characters. */
const mostPathChars = 500;

/** Returns the ids of the request, session and host, for the log lines of a request. */
const subjectOf = ({ id, caller, params }: FastifyRequest): Record<string, unknown> => {
  const { sessionId, hostId } = (params ?? {}) as { sessionId?: string; hostId?: string };
  const callers = caller !== undefined && 'hostId' in caller ? caller.hostId : undefined;
  return { requestId: id, sessionId, hostId: hostId ?? callers };
};

/** Default `Retry-After` in seconds, by status; `retryAfterMs` of an error takes precedence. */
const usualRetryAfter: Record<number, string> = { 429: '1', 503: '1' };

const retryAfterOf = (status: number, { retryAfterMs }: ErrorBody): string | undefined =>
  typeof retryAfterMs === 'number'
    ? String(Math.ceil(retryAfterMs / 1_000))
    : usualRetryAfter[status];

const challenge = (access: Access | undefined): string =>
  access !== undefined && !isPublicAccess(access)
    ? 'Bearer realm="svc"'
    : 'Basic realm="svc", charset="UTF-8"';

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '/';

/** Statuses for requests whose form the operation does not accept. An operation may declare its own body for them. */
const refusedForm = [400, 406, 413, 415];

/** Retry delay for clients that try again for only a few seconds and then drop their data, in milliseconds. */
const soonMs = 1_000;

/** Turns `exhausted` into `unavailable` (503), for clients that retry only after a temporary error. */
const asUnavailable = (error: AppError): AppError =>
  new AppError('unavailable', error.message, {
    detail: { ...error.detail, retryAfterMs: soonMs },
    cause: error,
  });

/** Returns the status and body for an error. Some operations declare their own error body or a 503 for overload. */
const answerOf = (
  error: unknown,
  { refusalBody, overload }: RouteConfig,
): { status: number; body: ErrorBody } => {
  const isOverload = error instanceof AppError && error.code === 'exhausted' && overload === 503;
  const answer = toAnswer(isOverload ? asUnavailable(error) : error);
  if (refusalBody === undefined || !refusedForm.includes(answer.status)) return answer;
  const fields = error instanceof AppError ? error.fields : [];
  const body = refusalBody(fields, answer.body.message) as ErrorBody;
  return { status: answer.status, body };
};

/**
 * Converts an error to an answer. Errors that the HTTP server raises with a 4xx status, for example for a body that is
 * too large, are the client's mistake.
 */
const toAnswer = (error: unknown): { status: number; body: ErrorBody } => {
  const status = (error as FastifyError).statusCode;
  if (error instanceof AppError || status === undefined || status < 400 || status > 499) {
    return toErrorAnswer(error);
  }
  return { status, body: { message: describeError(error), error: 'invalid' } };
};

/**
 * Sends an error answer. Errors quote input, so tokens are redacted. The values in `given` are not redacted, because
 * the error returns them on purpose.
 */
const sendError = (
  reply: FastifyReply,
  status: number,
  body: ErrorBody,
  given: Readonly<Record<string, string>> = {},
): FastifyReply => {
  reply.code(status);
  if (isProtobuf(reply.request)) {
    const message = hideCredentials(body.message);
    return sendBytes(reply.type(protobufType), writeRefusal(status, { ...body, message }));
  }
  const hidden = hideCredentials(JSON.stringify(body));
  const text =
    Object.keys(given).length === 0 ? hidden : JSON.stringify({ ...JSON.parse(hidden), ...given });
  return reply.type('application/json; charset=utf-8').send(text);
};

const logFailure = (
  log: Log,
  request: FastifyRequest,
  error: unknown,
  level: 'error' | 'warn',
  text: string,
): void => {
  const { method, url } = request;
  log[level]({ err: error, method, url: hideCredentials(url), ...subjectOf(request) }, text);
};

/** Logs an answer that broke off. Its headers were already sent, so the client can no longer get an error answer. */
export const logBrokenAnswer = (log: Log, request: FastifyRequest, error: unknown): void => {
  const level = toErrorAnswer(error).status === 500 ? 'error' : 'warn';
  logFailure(log, request, error, level, 'an answer broke off');
};

/** Answers errors and unknown paths. `elsewhere` holds the base paths of APIs that other addresses serve. */
export const answerErrors = (
  app: FastifyInstance,
  { elsewhere, log }: { elsewhere: readonly string[]; log: Log },
): void => {
  app.setErrorHandler(async (error, request, reply) => {
    const { status, body } = answerOf(error, configOf(request));
    if (status >= 500) {
      logFailure(log, request, error, status === 500 ? 'error' : 'warn', 'request failed');
      body.requestId = request.id;
    }
    const { access } = configOf(request);
    if (status === 401) reply.header('www-authenticate', challenge(access));
    const wait = retryAfterOf(status, body);
    if (wait !== undefined) reply.header('retry-after', wait);
    return sendError(reply, status, body, error instanceof AppError ? error.given : {});
  });
  const answer404 = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = pathOf(request);
    const isElsewhere = elsewhere.some((prefix) => path.startsWith(`${prefix}/`));
    const why = isElsewhere ? ' at this address: the API is served at another one' : '';
    return sendError(reply, 404, {
      message: `there is nothing at ${cut(path, mostPathChars)}${why}`,
      error: 'not_found',
    });
  };
  // Unknown paths are refused before the body is read, so the handler below is never reached.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answer404(request, reply);
    else done();
  });
  app.setNotFoundHandler(answer404);
};

/** Answers requests that cannot be routed: a malformed path, or a path argument longer than any name. */
export const refuseUnroutable = (
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void => {
  const path = cut(pathOf(request), mostPathChars);
  const isLong = error.statusCode === 414 || error.statusCode === 404;
  const body: ErrorBody = isLong
    ? { message: `there is nothing at ${path}`, error: 'not_found' }
    : {
        message: `${path} is not a valid path: its percent-encoding is malformed`,
        error: 'invalid',
      };
  reply.header(requestIdHeader, request.id);
  sendError(reply, isLong ? 404 : 400, body);
};

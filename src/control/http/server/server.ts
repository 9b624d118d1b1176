/**
 * The HTTP server: routes requests to endpoints, checks access and input first, and turns every error into the common
 * error answer. It does not listen on any address; `listen.ts` does.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { AppError } from '#domain/error.ts';
import { plainIp } from '#domain/host-address.ts';
import { newId } from '#domain/id.ts';
import { limits } from '#domain/limits.ts';
import type { Log } from '#runtime/log.ts';
import { isPublicAccess } from '#wire/access.ts';
import type { OperationShape } from '#wire/operation.ts';
import type { Metrics } from '../../platform/telemetry/counters.ts';
import { configOf, sendAnswer } from './answers.ts';
import type { Authenticate } from './auth.ts';
import { checkForm, formOf, protobufType } from './body-forms.ts';
import type { Guard } from './cross-site.ts';
import type { Caller, Endpoint } from './endpoint.ts';
import {
  answerErrors,
  logBrokenAnswer,
  refuseUnroutable,
  requestIdHeader,
} from './error-answers.ts';
import { type BodyEncoding, type ReceivedBody, readEncoding, receive } from './inflate.ts';
import type { KeyUsage } from './key-usage.ts';
import { allowPages, createOtherMethods, isForPages } from './methods.ts';
import { createPerformer, type RequestServices } from './perform.ts';
import type { LimitRate } from './rate-limits.ts';
import { escapeNames } from './unescaped-names.ts';
import { announcedBytes, isLargeBody, type Upload, type Uploads } from './uploads.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    upload: Upload | undefined;
    encoding: BodyEncoding;
  }
}

/** API with its base path and its endpoints. */
export type Api = { prefix: string; endpoints: readonly Endpoint[] };

export type ServerOptions = RequestServices & {
  apis: readonly Api[];
  /** Base paths of APIs that other addresses serve. */
  elsewhere: readonly string[];
  authenticate: Authenticate;
  /** Refuses requests that pages of other origins send. */
  guard: Guard;
  uploads: Uploads;
  limitRate: LimitRate;
  uses: Pick<KeyUsage, 'note'>;
  metrics: Metrics;
  log: Log;
};

/**
 * Maximum length of a path argument: an id of 800 characters, each percent-encoded. The operation's schema has the
 * exact limit.
 */
const mostArgumentChars = 800 * 12;

const routerOptions = { maxParamLength: mostArgumentChars, ignoreTrailingSlash: false };

/** Pattern of the request ids that a caller may choose. */
const requestIdForm = /^[\w.:-]{1,128}$/;

const requestIdOf = ({ headers }: { headers: IncomingHttpHeaders }): string => {
  const given = headers[requestIdHeader];
  return typeof given === 'string' && requestIdForm.test(given) ? given : newId('req');
};

/** Returns a signal that aborts if the connection ends before the answer is sent. */
const signalOf = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
};

/** Reads bodies as bytes. They are parsed once the operation is known, see `bind`. */
const takeBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  const taken = ['application/json', protobufType];
  app.addContentTypeParser(taken, { parseAs: 'buffer' }, (_, body, done) => done(null, body));
};

/**
 * Refuses requests that pages of other origins may not send. These are all requests to an MCP server, unless the origin
 * is allowed, and writes to all routes except those for pages. Routes for pages accept a JSON body, for which a browser
 * first sends a preflight request.
 */
const checkPage = (
  { access, method }: OperationShape,
  headers: IncomingHttpHeaders,
  guard: Guard,
): void => {
  const isMcp = access === 'mcp' || access === 'session';
  if (isMcp) guard.checkNames(headers);
  const isJudged = isMcp && headers.origin !== undefined;
  if (method !== 'GET' && !isForPages(access) && !isJudged) guard.checkPage(headers);
};

/**
 * Returns the fairness key that the size of a body is counted under. For a host, its session is looked up only if the
 * body is large.
 */
const holderOf = async (
  { params }: FastifyRequest,
  caller: Caller,
  bytes: number,
  findFairnessKey: RequestServices['findFairnessKey'],
): Promise<string> =>
  'hostId' in caller && !isLargeBody(bytes) ? caller.hostId : findFairnessKey(caller, params);

/** Returns the maximum number of bytes of the body; for a compressed body, the maximum after inflating. */
const bytesToCome = ({ method, headers, routeOptions, encoding }: FastifyRequest): number => {
  if (method === 'GET' || method === 'HEAD') return 0;
  const { bodyLimit } = routeOptions;
  return encoding === undefined ? announcedBytes(headers, bodyLimit) : bodyLimit;
};

/** Returns the project that a request names: in its path, or in `?project_id=` as MCP clients do. */
const projectOf = ({ params, query }: FastifyRequest): string | undefined => {
  const { projectId } = (params ?? {}) as { projectId?: unknown };
  const { project_id: inQuery } = (query ?? {}) as { project_id?: unknown };
  return [projectId, inQuery].find((one) => typeof one === 'string');
};

/** Returns the session that the path names. A session's token is only accepted on paths of that session. */
const sessionOf = ({ params }: FastifyRequest): string | undefined =>
  (params as { sessionId?: string } | undefined)?.sessionId;

/** Returns the received body; its `bytes` are undefined if there is no body. */
const receivedOf = async (request: FastifyRequest): Promise<ReceivedBody> => {
  const { body, encoding, routeOptions } = request;
  if (!(body instanceof Uint8Array)) return { bytes: undefined };
  return encoding === undefined ? { bytes: body } : receive(body, routeOptions.bodyLimit);
};

/**
 * Reserves size budget for the request's body. The budget is released when the answer is sent or the client
 * disconnects.
 */
const beginUpload = async (
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  { findFairnessKey, uploads, metrics }: ServerOptions,
): Promise<void> => {
  const bytes = bytesToCome(request);
  if (bytes === 0) return;
  const holder = await holderOf(request, caller, bytes, findFairnessKey);
  // A client that has disconnected meanwhile sends no body.
  if (reply.raw.destroyed) throw new AppError('unavailable', 'the client has disconnected');
  try {
    const upload = uploads.begin({ holder, bytes, isKept: !('hostId' in caller) });
    request.upload = upload;
    reply.raw.once('close', () => upload.end()).once('finish', () => upload.end());
  } catch (error) {
    const quota = error instanceof AppError ? error.detail.quota : undefined;
    if (typeof quota === 'string') metrics.quotaRefusals.inc({ quota });
    throw error;
  }
};

const bind = (app: FastifyInstance, prefix: string, bound: Endpoint, options: ServerOptions) => {
  const { operation, refusalBody } = bound;
  const { authenticate, guard } = options;
  const { validate, perform } = createPerformer(bound, options);
  const answerTo = async (request: FastifyRequest, reply: FastifyReply, signal: AbortSignal) => {
    const { params, query, headers, caller, upload } = request;
    if (caller === undefined) throw new AppError('unauthenticated', 'no caller');
    const received = await receivedOf(request);
    // From here on only the parsed body is kept in memory: the handler may wait for a long time.
    request.body = undefined;
    const onRead = () => upload?.read();
    const raw = { params, query, headers, ...received };
    const answer = await perform(raw, { caller, signal, onRead });
    if (answer.headers !== undefined) reply.headers(answer.headers);
    return answer;
  };
  const isPublic = isPublicAccess(operation.access);
  app.route({
    method: isPublic && operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
    url: `${prefix}${operation.path.replace(/\{(\w+)\}/g, ':$1')}`,
    bodyLimit: operation.bodyBytes ?? limits.bodyBytes,
    config: {
      access: operation.access,
      operation: operation.id,
      overload: operation.overload,
      protobuf: operation.protobuf,
      refusalBody,
    },
    // Checked before the body is read, so that a client does not upload a body that it may not send.
    onRequest: async (request, reply) => {
      if (isForPages(operation.access)) allowPages(reply);
      const { headers, socket, params, query } = request;
      checkPage(operation, headers, guard);
      const from = plainIp(socket.remoteAddress ?? '');
      const named = { project: projectOf(request), session: sessionOf(request) };
      const caller = await authenticate(headers.authorization, operation.access, from, named);
      request.caller = caller;
      options.uses.note(caller);
      await options.limitRate(caller, reply);
      checkForm(formOf(headers['content-type']), operation);
      request.encoding = readEncoding(headers['content-encoding'], isPublic);
      if (isLargeBody(bytesToCome(request)))
        validate.head({ params, query, headers: { ...headers } });
      else validate.path(params);
      await beginUpload(request, reply, caller, options);
    },
    handler: async (request, reply) => {
      const signal = signalOf(reply);
      const work = () => answerTo(request, reply, signal);
      const { upload } = request;
      const answer = await (upload === undefined ? work() : upload.during(work));
      const broke = (error: Error) => logBrokenAnswer(options.log, request, error);
      return sendAnswer(reply, answer.status, answer.body, broke);
    },
  });
};

/** Counts answers by operation; answers of all routes that are no operation count as `other`. */
const countRequests = (app: FastifyInstance, { httpRequests, httpSeconds }: Metrics): void => {
  app.addHook('onResponse', (request, reply, done) => {
    const { operation = 'other' } = configOf(request);
    httpRequests.inc({ operation, status: reply.statusCode });
    httpSeconds.observe({ operation }, reply.elapsedTime / 1_000);
    done();
  });
};

/** Builds the server; `addRoutes` adds routes outside the contracts, such as `/health`. */
export const createServer = (
  options: ServerOptions,
  addRoutes: (app: FastifyInstance) => void,
): FastifyInstance => {
  const { apis, metrics } = options;
  const app = fastify({
    routerOptions,
    exposeHeadRoutes: false,
    frameworkErrors: refuseUnroutable,
    genReqId: requestIdOf,
    rewriteUrl: ({ url = '/' }) => escapeNames(url),
    bodyLimit: limits.bodyBytes,
  });
  app.decorateRequest('caller', undefined);
  app.decorateRequest('upload', undefined);
  app.decorateRequest('encoding', undefined);
  // Hooks that every request passes use callbacks: awaiting a promise would take longer than what they do.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    done();
  });
  takeBodies(app);
  const otherMethods = createOtherMethods(app, routerOptions);
  answerErrors(app, options);
  countRequests(app, metrics);
  addRoutes(app);
  for (const { prefix, endpoints } of apis) {
    for (const bound of endpoints) bind(app, prefix, bound, options);
  }
  otherMethods.bind();
  return app;
};

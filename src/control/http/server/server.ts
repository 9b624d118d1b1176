/**
 * The HTTP server: routes endpoints, checks access and input before them, and turns whatever goes
 * wrong into the one shape of error answer. It does not listen by itself, see `listen.ts`.
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
import { createPerformer, type Ways } from './perform.ts';
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

/** An API: its base path and what it serves. */
export type Api = { prefix: string; endpoints: readonly Endpoint[] };

export type ServerOptions = Ways & {
  apis: readonly Api[];
  /** Base paths of what is served at other addresses. */
  elsewhere: readonly string[];
  authenticate: Authenticate;
  /** Refuses what pages of other origins send. */
  guard: Guard;
  uploads: Uploads;
  limitRate: LimitRate;
  uses: Pick<KeyUsage, 'note'>;
  metrics: Metrics;
  log: Log;
};

/** Of an argument of a path: an id of 800 characters, each percent-encoded. What an operation takes is in its schema. */
const mostArgumentChars = 800 * 12;

const routerOptions = { maxParamLength: mostArgumentChars, ignoreTrailingSlash: false };

/** What a caller may call its request. */
const requestIdForm = /^[\w.:-]{1,128}$/;

const requestIdOf = ({ headers }: { headers: IncomingHttpHeaders }): string => {
  const given = headers[requestIdHeader];
  return typeof given === 'string' && requestIdForm.test(given) ? given : newId('req');
};

/** Aborts when the connection ends before the answer was sent. */
const signalOf = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
};

/** Bodies come as bytes; they are read when the operation is known, see `bind`. */
const takeBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  const taken = ['application/json', protobufType];
  app.addContentTypeParser(taken, { parseAs: 'buffer' }, (_, body, done) => done(null, body));
};

/**
 * Refuses what a page of another origin may not send: anything to an MCP server but from origins that are allowed, and
 * writes to all but the routes for pages, which take a body in JSON; a browser asks before it sends one there.
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

/** Whose share a body counts in. A host's session is looked up for a large one only. */
const holderOf = async (
  { params }: FastifyRequest,
  caller: Caller,
  bytes: number,
  findAsker: Ways['findAsker'],
): Promise<string> =>
  'hostId' in caller && !isLargeBody(bytes) ? caller.hostId : findAsker(caller, params);

/** How much of a body the request announces that would be received; of a compressed one, how much it may become. */
const bytesToCome = ({ method, headers, routeOptions, encoding }: FastifyRequest): number => {
  if (method === 'GET' || method === 'HEAD') return 0;
  const { bodyLimit } = routeOptions;
  return encoding === undefined ? announcedBytes(headers, bodyLimit) : bodyLimit;
};

/** The project that a request names: in its path, or as MCP does by `?project_id=`. */
const projectOf = ({ params, query }: FastifyRequest): string | undefined => {
  const { projectId } = (params ?? {}) as { projectId?: unknown };
  const { project_id: inQuery } = (query ?? {}) as { project_id?: unknown };
  return [projectId, inQuery].find((one) => typeof one === 'string');
};

/** The session that it names: whose token may be shown is asked of no other. */
const sessionOf = ({ params }: FastifyRequest): string | undefined =>
  (params as { sessionId?: string } | undefined)?.sessionId;

/** The body as it is read; without bytes when there is none. */
const receivedOf = async (request: FastifyRequest): Promise<ReceivedBody> => {
  const { body, encoding, routeOptions } = request;
  if (!(body instanceof Uint8Array)) return { bytes: undefined };
  return encoding === undefined ? { bytes: body } : receive(body, routeOptions.bodyLimit);
};

/** Takes room for the body that is to come; given back when the answer was sent or nobody waits for it. */
const beginUpload = async (
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  { findAsker, uploads, metrics }: ServerOptions,
): Promise<void> => {
  const bytes = bytesToCome(request);
  if (bytes === 0) return;
  const holder = await holderOf(request, caller, bytes, findAsker);
  // Whoever is gone meanwhile sends nothing any more.
  if (reply.raw.destroyed) throw new AppError('unavailable', 'the client is gone');
  try {
    const upload = uploads.begin({ asker: holder, bytes, isKept: !('hostId' in caller) });
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
    // What was read of it is all that is kept: a handler may wait for long.
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
    // Before the body is read: nobody uploads what they may not.
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

/** Counts answers by operation; what is no operation of a contract is one together. */
const countRequests = (app: FastifyInstance, { httpRequests, httpSeconds }: Metrics): void => {
  app.addHook('onResponse', (request, reply, done) => {
    const { operation = 'other' } = configOf(request);
    httpRequests.inc({ operation, status: reply.statusCode });
    httpSeconds.observe({ operation }, reply.elapsedTime / 1_000);
    done();
  });
};

/** Builds the server. Routes of its own, such as `/health`, are added by `addRoutes`. */
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
  // What all requests pass is no promise: to wait for one takes longer than what it does.
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

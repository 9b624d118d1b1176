/**
 * UI surface: the origin at which a session's page is served. It has the same port as the API; the name in `Host`
 * (`<session>--ui.…`) distinguishes the two. A request is first admitted or refused (`entry.ts`). Then it is answered
 * by a service of the host (`service.ts`), by the world's API if it is below the API's path, or with a file of the
 * page.
 *
 * The surface serves only the session that its host serves. Requests for another session are refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '#domain/error.ts';
import { readSurfaceLabel } from '#domain/surface-address.ts';
import type { Digest } from '#domain/world.ts';
import { entryKeyHeader, isPassCookie } from '#runtime/surface-pass.ts';
import {
  later,
  noSuchSurface,
  refusal,
  refusalJson,
  refusalJsonHead,
  refusalPage,
  refusalPageHead,
  type SurfaceRefusal,
  wantsPage,
} from '#runtime/surface-refusal.ts';
import { bodiless } from '../api/answers/answer.ts';
import { dropConnection, holdBack } from '../api/met.ts';
import { describeRequest, pathOf } from '../api/requests/incoming.ts';
import type { Met } from '../session/faults.ts';
import type { Serving } from '../session/serving.ts';
import type { Session } from '../session/session.ts';
import { answerFromApi, isBelowApi } from './api-path.ts';
import { answerBrowser, isOfBrowser } from './browser-reports.ts';
import { compressAnswer } from './compression.ts';
import { type EntryParts, enter, isEntry, refusalOfAccess } from './entry.ts';
import { createUiFiles, type UiFiles } from './files.ts';
import { withOriginHeaders } from './headers.ts';
import {
  serviceOf,
  servicePrefix,
  type UiAnswer,
  type UiRequest,
  type UiServices,
  uiJson,
} from './service.ts';
import { answerStatic, pageOf } from './static.ts';

export type UiSurfaceParts = EntryParts & {
  serving: Serving;
  /** Returns the bytes of a file of the page. Throws `AppError` if they cannot be fetched. */
  fetchBlob(digest: Digest): Promise<Uint8Array>;
  /** Services of the host at the UI's origin; see `service.ts`. */
  services: UiServices;
};

/** Answers a request for a session's UI; returns false if the request is for another surface. */
export type UiSurface = (request: IncomingMessage, response: ServerResponse) => boolean;

type Answering = UiSurfaceParts & { files: UiFiles };

/** Outcome of a request: an answer, a refusal, or `dropped` if a declared fault drops the connection. */
type Outcome = UiAnswer | SurfaceRefusal | 'dropped';

const isRefusal = (outcome: UiAnswer | SurfaceRefusal): outcome is SurfaceRefusal =>
  'code' in outcome;

const provingRefusal = (sessionId: string): SurfaceRefusal =>
  later(503, 'proving', `the task of ${sessionId} is being proved; ask again after that`, 2);

/** Returns the requested session, or the reason why this host does not serve it. */
const sessionOf = (
  { serving }: UiSurfaceParts,
  sessionId: string,
): { session: Session; ui: NonNullable<Session['ui']> } | SurfaceRefusal => {
  const state = serving.state();
  if (state.kind === 'waiting') {
    return later(503, 'provisioning', `${sessionId} is not served here yet`, 1, { sessionId });
  }
  if (state.kind === 'cut_off') {
    const message = `${sessionId} may have been reassigned, because its host cannot reach the control plane; the request was not executed`;
    return later(503, 'cut_off', message, 2, { sessionId });
  }
  if (state.kind === 'closed' || state.session.id !== sessionId) {
    const message = `${sessionId} is not served here any more; open another session`;
    return refusal(410, 'closed', message, { sessionId });
  }
  const { session } = state;
  const { ui } = session;
  return ui === null || ui === undefined ? noSuchSurface(sessionId, 'ui') : { session, ui };
};

const withoutPasses = (cookies: string): string =>
  cookies
    .split(';')
    .filter((pair) => !isPassCookie(pair.trim().split('=', 1)[0] ?? ''))
    .join(';')
    .trim();

/** Returns the request without its pass and key, because user code must not get them. */
const withoutCredentials = (request: UiRequest): UiRequest => {
  const { cookie = '', [entryKeyHeader]: _, ...headers } = request.headers;
  const others = withoutPasses(cookie);
  return { ...request, headers: others === '' ? headers : { ...headers, cookie: others } };
};

/** Delays an answer by the faults that apply to its request. Returns true if the connection is to be dropped. */
type Hold = (met: Met | undefined) => Promise<boolean>;

/**
 * Answers requests to the world's API and to the host's services; refuses them while a task is being proved. Returns
 * undefined for any other request, which is for a file of the page.
 */
const answerActing = async (
  { services, log }: Answering,
  session: Session,
  request: UiRequest,
  hold: Hold,
): Promise<Outcome | undefined> => {
  const { path } = request;
  const apiPath = session.world.contract.ui?.apiPath;
  const isApi = apiPath !== undefined && isBelowApi(apiPath, path);
  if (!isApi && !path.startsWith(servicePrefix)) return undefined;
  if (session.isProving === true) return provingRefusal(session.id);
  if (path.startsWith(servicePrefix)) {
    const service = serviceOf(services, path);
    if (service === undefined)
      return uiJson(404, { message: 'the host has no service at this path' });
    const { cookie: _, ...headers } = request.headers;
    return compressAnswer(request.headers, await service({ ...request, headers }, session));
  }
  const { answer, fault, met } = await answerFromApi(session, apiPath ?? '', request);
  if (fault !== undefined) log.error({ err: fault, path }, 'failed');
  return (await hold(met)) ? 'dropped' : answer;
};

const answerSession = async (
  parts: Answering,
  sessionId: string,
  received: UiRequest,
  socket: Socket,
): Promise<Outcome> => {
  const found = sessionOf(parts, sessionId);
  if ('code' in found) return found;
  const { session, ui } = found;
  const visit = parts.serving.enter();
  try {
    if (isEntry(received)) return await enter(parts, session, received);
    const refused = refusalOfAccess(session, received);
    if (refused !== undefined) return refused;
    const { host = '' } = received.headers;
    // The browser's polls do not count as use of the session; the use by its clients is reported in another way.
    if (isOfBrowser(received)) {
      return withOriginHeaders(await answerBrowser(session, received, visit.ending), 'data', host);
    }
    parts.serving.touch();
    const request = withoutCredentials(received);
    const acted = await answerActing(parts, session, request, (met) =>
      holdBack(met, socket, visit.ending),
    );
    if (acted === 'dropped') return acted;
    if (acted !== undefined)
      return isRefusal(acted) ? acted : withOriginHeaders(acted, 'data', host);
    const page = pageOf(session.world.contract.ui ?? { entry: '/' }, ui.files);
    return withOriginHeaders(await answerStatic(parts.files, page, request), 'page', host);
  } finally {
    visit.leave();
  }
};

const refusalAnswer = (outcome: SurfaceRefusal, { method, headers }: IncomingMessage): UiAnswer => {
  const isPage = wantsPage(method, headers.accept);
  const head = isPage ? refusalPageHead : refusalJsonHead;
  const named = Object.fromEntries(
    head.flatMap((name, at) => (at % 2 === 0 ? [[name, head[at + 1] ?? '']] : [])),
  );
  const again = outcome.retryAfterS;
  return {
    status: outcome.status,
    headers: {
      ...named,
      'cache-control': 'no-store',
      ...(again === undefined ? {} : { 'retry-after': String(again) }),
    },
    body: isPage ? refusalPage(outcome) : refusalJson(outcome),
  };
};

/** Returns the refusal that answers a request after an error was thrown. */
const failureOf = ({ log }: Answering, sessionId: string, error: unknown, path: string) => {
  const isUnanswered = error instanceof DOMException && error.name === 'TimeoutError';
  if (error instanceof AppError || isUnanswered) {
    log.warn({ err: error, path }, 'a file of the page could not be fetched');
    return later(503, 'unavailable', `a file of the page of ${sessionId} cannot be fetched now`, 2);
  }
  log.error({ err: error, path }, 'failed');
  return refusal(500, 'internal', 'internal error');
};

const write = (request: IncomingMessage, response: ServerResponse, answer: UiAnswer): void => {
  const { status, body } = answer;
  const headers: UiAnswer['headers'] = { ...answer.headers };
  // Node sets these headers itself; user code may not.
  for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive']) {
    delete headers[name];
  }
  const length = body === null ? 0 : Buffer.byteLength(body);
  if (body !== null || !bodiless.has(status)) headers['content-length'] = String(length);
  // If the body was not read to its end, Node would parse the rest as the next request.
  if (!request.complete) headers.connection = 'close';
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' || body === null ? undefined : body);
};

const handle = async (
  parts: Answering,
  sessionId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const path = pathOf(request);
  const asAnswer = (outcome: Outcome): UiAnswer | 'dropped' =>
    outcome !== 'dropped' && isRefusal(outcome) ? refusalAnswer(outcome, request) : outcome;
  const fail = (error: unknown): UiAnswer =>
    refusalAnswer(failureOf(parts, sessionId, error, path), request);
  const answer = await answerSession(parts, sessionId, describeRequest(request), request.socket)
    .then(asAnswer)
    .catch(fail);
  if (answer === 'dropped') return dropConnection(request, response);
  try {
    write(request, response, answer);
  } catch (error) {
    // User code set a status or a header that HTTP does not allow.
    write(request, response, fail(error));
  }
};

/** Creates the surface of one host. */
export const createUiSurface = (parts: UiSurfaceParts): UiSurface => {
  const answering = { ...parts, files: createUiFiles(parts.fetchBlob) };
  return (request, response) => {
    const name = readSurfaceLabel(request.headers.host ?? '');
    if (name?.surface !== 'ui') return false;
    void handle(answering, name.sessionId, request, response);
    return true;
  };
};

/**
 * Serves the world's API at the page's own origin, below `[ui] api_path`. The host answers such a request in the same
 * way as at the API surface, in this process, and adds the session's token itself. Neither the page nor a header that a
 * page could read contains the token. Credentials that the page sends are replaced, and cookies are dropped. The ledger
 * records these requests with `via: "ui"`.
 */

import { isPassCookie } from '#runtime/surface-pass.ts';
import { bodiless, jsonAnswer } from '../api/answers/answer.ts';
import { noteRequest } from '../api/note-request.ts';
import { answerRequest } from '../api/request.ts';
import type { ApiOutcome, ApiRequest } from '../api/requests/api-request.ts';
import { splitPath } from '../routes/router.ts';
import type { Met } from '../session/faults.ts';
import { nothingOutgoing } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import type { UiAnswer, UiRequest } from './service.ts';

/** Returns true if the path belongs to the API. */
export const isBelowApi = (apiPath: string, path: string): boolean =>
  path === apiPath || path.startsWith(`${apiPath}/`);

const upgradeMessage = '{"message":"this address takes no change of protocol"}';

/**
 * Returns a 426 if the request wants to upgrade the protocol, because a path of the API serves only HTTP. Undefined for
 * any other request.
 */
const refuseUpgrade = (session: Session, { method, path, headers }: ApiRequest) => {
  const segments = headers.upgrade === undefined ? undefined : splitPath(path);
  if (segments === undefined || session.world.router.match(method, segments).kind === 'unknown') {
    return undefined;
  }
  const answer = { ...jsonAnswer(426, upgradeMessage), headers: { upgrade: 'HTTP/1.1' } };
  const nothing = {
    operation: null,
    body: null,
    changes: {},
    rows: [],
    outgoing: nothingOutgoing(),
  };
  const outcome: ApiOutcome = { ...nothing, answer, sent: answer, authorized: true };
  return outcome;
};

/**
 * Returns the headers without `set-cookie` for the names that passes have. The API may set other cookies for the page.
 */
const withoutPass = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) =>
        name.toLowerCase() !== 'set-cookie' || !isPassCookie(value.split('=', 1)[0]?.trim() ?? ''),
    ),
  );

const toAnswer = ({ sent }: ApiOutcome): UiAnswer => {
  const { status, body, bytes, contentType, headers } = sent;
  const named = Object.entries(withoutPass(headers)).map(([name, text]) => [
    name.toLowerCase(),
    text,
  ]);
  const type = body === null || bodiless.has(status) ? {} : { 'content-type': contentType };
  return {
    status,
    headers: { ...type, ...Object.fromEntries(named) },
    body: body === null ? null : (bytes ?? body),
  };
};

/**
 * Answers a request below the API's path and records it. Throws when the client disconnects before it has sent the
 * whole body.
 */
export const answerFromApi = async (
  session: Session,
  apiPath: string,
  request: UiRequest,
): Promise<{ answer: UiAnswer; fault: unknown; met: Met | undefined }> => {
  const at = new Date();
  const startedAt = performance.now();
  const inner: ApiRequest = {
    ...request,
    path: request.path.slice(apiPath.length) || '/',
    headers: { ...request.headers, authorization: `Bearer ${session.token.reveal()}` },
    mountedAt: apiPath,
  };
  const outcome = refuseUpgrade(session, inner) ?? (await answerRequest(session, inner));
  noteRequest(session, inner, outcome, { via: 'ui', at, startedAt });
  return { answer: toAnswer(outcome), fault: outcome.fault, met: outcome.met };
};

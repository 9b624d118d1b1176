/**
 * The door of the surfaces that people open in a browser. A one-time link, consumed by the control
 * plane, brings a pass; without a pass there is a page that says so. The API surface has no such door:
 * its host asks for the session's token.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type SurfaceTemplate, surfaceUrl } from '#domain/surface-address.ts';
import type { Client } from '#wire/client.ts';
import { consumeLink } from '#wire/gateway-api/operations.ts';
import { answerRefusal } from '../http/answer-refusal.ts';
import type { SurfaceTarget } from '../http/target.ts';
import {
  foreignOrigin,
  linkUsed,
  notEntered,
  type Refusal,
  routeUnknown,
  wrongMethod,
} from '../refusals.ts';
import type { Passes } from './pass.ts';

export type Door = {
  /** Whether the door answers the request itself. */
  isOwn(target: SurfaceTarget): boolean;
  /** Lets in whoever brings a link. */
  enter(request: IncomingMessage, response: ServerResponse, target: SurfaceTarget): Promise<void>;
  /** Why the request may not pass; undefined when it may. */
  check(request: IncomingMessage, target: SurfaceTarget, isUpgrade: boolean): Refusal | undefined;
  /** Refuses one without a pass: in words for a person who sees a page, else as usual. */
  turnAway(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void;
};

export type DoorOptions = { client: Client; passes: Passes; template: SurfaceTemplate };

const enterPath = '/.svc/enter';
const patienceMs = 5_000;
const harmless: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const pageOf = ({ message }: Refusal): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Not entered</title>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem">
<h1>You have not entered this session</h1>
<p>${escapeHtml(message)}.</p>
<p>Whoever opened the session can make a link: <code>POST /world-sessions/{sessionId}/links</code>. Each
link lets in one browser, once.</p>
</body></html>
`;

const sendPage = (request: IncomingMessage, response: ServerResponse, refusal: Refusal): void => {
  const page = pageOf(refusal);
  response.writeHead(refusal.status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : page);
};

/** Makes the door. */
export const createDoor = ({ client, passes, template }: DoorOptions): Door => {
  const consume = async ({ sessionId, surface, path }: SurfaceTarget): Promise<boolean> => {
    const token = new URLSearchParams(path.slice(enterPath.length)).get('token') ?? '';
    if (token === '' || token.length > 200) return false;
    const { body } = await client.send(consumeLink, {
      params: { sessionId },
      body: { surface, token },
      signal: AbortSignal.timeout(patienceMs),
    });
    return body.accepted;
  };

  const turnAway: Door['turnAway'] = (request, response, refusal) => {
    const isPage = harmless.includes(request.method) && request.headers.accept?.includes('html');
    if (refusal.status === 401 && isPage) sendPage(request, response, refusal);
    else answerRefusal(request, response, refusal, false);
  };

  const letIn = (response: ServerResponse, target: SurfaceTarget): void => {
    response.writeHead(303, {
      location: '/',
      'set-cookie': passes.issue(target),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-length': 0,
    });
    response.end();
  };

  return {
    isOwn: ({ surface, path }) => surface !== 'api' && path.split('?', 1)[0] === enterPath,
    async enter(request, response, target) {
      const { sessionId } = target;
      if (request.method !== 'GET') return turnAway(request, response, wrongMethod());
      try {
        if (await consume(target)) letIn(response, target);
        else turnAway(request, response, linkUsed(sessionId));
      } catch {
        // The control plane does not answer. The link may be good still, so it is not called used.
        turnAway(request, response, routeUnknown(sessionId));
      }
    },
    check(request, { sessionId, surface }, isUpgrade) {
      if (surface === 'api') return undefined;
      const { cookie, origin } = request.headers;
      if (!passes.check({ sessionId, surface }, cookie)) return notEntered(sessionId);
      // The sites of other sessions count as the same site for cookies, so their pages are kept out here.
      const isForeign = origin !== undefined && origin !== surfaceUrl(template, sessionId, surface);
      const acts = isUpgrade || !harmless.includes(request.method);
      return isForeign && acts ? foreignOrigin(sessionId) : undefined;
    },
    turnAway,
  };
};

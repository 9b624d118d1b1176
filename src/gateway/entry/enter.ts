/**
 * The door of the surfaces that people open in a browser. A one-time link, consumed by the control
 * plane, brings a pass; without a pass there is a page that says so. The surfaces `api` and `browser` have no such
 * door: their hosts ask for the session's token, or let people in by themselves.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '#domain/error.ts';
import type { SurfaceKind } from '#domain/session.ts';
import { type SurfaceTemplate, surfaceUrl } from '#domain/surface-address.ts';
import { isOtherSite } from '#runtime/fetch-site.ts';
import type { Log } from '#runtime/log.ts';
import { enterPath, type Passes } from '#runtime/surface-pass.ts';
import {
  foreignOrigin,
  linkUsed,
  notEntered,
  routeUnknown,
  wrongMethod,
} from '#runtime/surface-refusal.ts';
import type { Client } from '#wire/client.ts';
import { consumeLink } from '#wire/gateway-api/operations.ts';
import type { Refusal } from '../http/refusals.ts';
import { isSafe, type SurfaceTarget } from '../http/target.ts';

export type Door = {
  /** Whether the door answers the request itself. */
  isOwn(target: SurfaceTarget): boolean;
  /**
   * Lets in whoever brings a link; resolves with why not, and then has not answered. Throws what is no
   * answer of the control plane, nor its absence.
   */
  enter(
    request: IncomingMessage,
    response: ServerResponse,
    target: SurfaceTarget,
  ): Promise<Refusal | undefined>;
  /** Why the request may not pass; undefined when it may. */
  check(request: IncomingMessage, target: SurfaceTarget, isUpgrade: boolean): Refusal | undefined;
};

export type DoorOptions = { client: Client; passes: Passes; template: SurfaceTemplate; log: Log };

/** Whether it is here that people enter a surface; the host of a browser, as that of an API, lets in by itself. */
export const isEntered = (surface: SurfaceKind): surface is 'ui' => surface === 'ui';

const patienceMs = 5_000;

/** Whether the control plane could not say whether a link is good. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof AppError || (error instanceof DOMException && error.name === 'TimeoutError');

/** Makes the door. */
export const createDoor = ({ client, passes, template, log }: DoorOptions): Door => {
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

  /** Whoever has a pass keeps it. */
  const letIn = (response: ServerResponse, target: SurfaceTarget, hasPass: boolean): void => {
    response.writeHead(303, {
      location: '/',
      ...(hasPass ? {} : { 'set-cookie': passes.issue(target) }),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-length': 0,
    });
    response.end();
  };

  return {
    isOwn: ({ surface, path }) => isEntered(surface) && path.split('?', 1)[0] === enterPath,
    async enter(request, response, target) {
      const { sessionId } = target;
      if (request.method !== 'GET') return wrongMethod();
      // A browser that was let in is not turned away for opening its link a second time.
      const hasPass = passes.check(target, request.headers.cookie);
      try {
        if (!hasPass && !(await consume(target))) return linkUsed(sessionId);
      } catch (error) {
        if (!isUnanswered(error)) throw error;
        log.warn({ sessionId, err: error }, 'a link could not be checked');
        // It may be good still, so it is not called used.
        return routeUnknown(sessionId);
      }
      letIn(response, target, hasPass);
      return undefined;
    },
    check(request, { sessionId, surface }, isUpgrade) {
      if (!isEntered(surface)) return undefined;
      const { cookie, origin, 'sec-fetch-site': site } = request.headers;
      if (!passes.check({ sessionId, surface }, cookie)) return notEntered(sessionId);
      // The sites of other sessions count as the same site for cookies, so their pages are kept out here.
      const own = surfaceUrl(template, sessionId, surface);
      const isForeign = (origin !== undefined && origin !== own) || isOtherSite(site);
      const acts = isUpgrade || !isSafe(request.method);
      return isForeign && acts ? foreignOrigin(sessionId) : undefined;
    },
  };
};

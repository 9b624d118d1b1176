/**
 * Access control of the surfaces that people open in a browser. The control plane consumes a one-time link, and the
 * gateway then issues a pass in a cookie. Without a pass, the browser gets a page that explains this. The surfaces
 * `api` and `browser` need no pass here: their hosts check the session's token, or have an entry of their own.
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

export type SurfaceAccess = {
  /** Returns true if the path of the request is that of a one-time link, which the gateway answers itself. */
  isOwn(target: SurfaceTarget): boolean;
  /**
   * Consumes the link in the request, issues a pass and redirects to the surface. If the link is not valid or could
   * not be checked, resolves with the refusal and leaves the response unanswered. Throws unexpected errors.
   */
  enter(
    request: IncomingMessage,
    response: ServerResponse,
    target: SurfaceTarget,
  ): Promise<Refusal | undefined>;
  /** Returns why the request is refused; undefined when it may pass. */
  check(request: IncomingMessage, target: SurfaceTarget, isUpgrade: boolean): Refusal | undefined;
};

export type SurfaceAccessOptions = {
  client: Client;
  passes: Passes;
  template: SurfaceTemplate;
  log: Log;
};

/**
 * Returns true if the surface needs a pass of the gateway. The hosts of `browser` and `api` control access themselves.
 */
export const isEntered = (surface: SurfaceKind): surface is 'ui' => surface === 'ui';

const patienceMs = 5_000;

/** Returns true if the control plane did not decide whether the link is valid: it answered an error or timed out. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof AppError || (error instanceof DOMException && error.name === 'TimeoutError');

/** Creates the access control of one gateway. */
export const createSurfaceAccess = ({
  client,
  passes,
  template,
  log,
}: SurfaceAccessOptions): SurfaceAccess => {
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

  /** Redirects to the surface, and issues a pass unless the browser already has one. */
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
      // If a browser with a pass opens its link a second time, it is let in again.
      const hasPass = passes.check(target, request.headers.cookie);
      try {
        if (!hasPass && !(await consume(target))) return linkUsed(sessionId);
      } catch (error) {
        if (!isUnanswered(error)) throw error;
        log.warn({ sessionId, err: error }, 'the control plane could not check a link');
        // The link may still be valid, so the answer does not call it used.
        return routeUnknown(sessionId);
      }
      letIn(response, target, hasPass);
      return undefined;
    },
    check(request, { sessionId, surface }, isUpgrade) {
      if (!isEntered(surface)) return undefined;
      const { cookie, origin, 'sec-fetch-site': site } = request.headers;
      if (!passes.check({ sessionId, surface }, cookie)) return notEntered(sessionId);
      // For cookies, surfaces of other sessions are the same site. Requests from their pages are refused here.
      const own = surfaceUrl(template, sessionId, surface);
      const isForeign = (origin !== undefined && origin !== own) || isOtherSite(site);
      const acts = isUpgrade || !isSafe(request.method);
      return isForeign && acts ? foreignOrigin(sessionId) : undefined;
    },
  };
};

/**
 * Decides which clients may use a session's UI at its host. A gateway may: it sends the session's key, and has already
 * admitted its own client. A browser may if this host has admitted it by a one-time link, as in installations without a
 * gateway. The control plane records which links were used.
 */
import { AppError } from '#domain/error.ts';
import { isOtherSite } from '#runtime/fetch-site.ts';
import type { Log } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { createPasses, enterPath, entryKeyHeader, entryKeyOf } from '#runtime/surface-pass.ts';
import {
  foreignOrigin,
  linkUsed,
  notEntered,
  routeUnknown,
  type SurfaceRefusal,
  wrongMethod,
} from '#runtime/surface-refusal.ts';
import type { Session } from '../session/session.ts';
import type { UiAnswer, UiRequest } from './service.ts';

export type EntryParts = {
  /** Marks a link as used; returns false if it is no longer valid. Throws if the control plane does not answer. */
  consumeLink(sessionId: string, token: string): Promise<boolean>;
  log: Log;
};

const isSafe = (method: string): boolean => ['GET', 'HEAD', 'OPTIONS'].includes(method);

const mostTokenChars = 200;

const isUnanswered = (error: unknown): boolean =>
  error instanceof AppError || (error instanceof DOMException && error.name === 'TimeoutError');

/**
 * Returns true if a page of another origin sends this request in order to change something, or to load something from
 * this origin. A browser that has entered may always navigate to this origin.
 */
const isForeign = ({ method, headers }: UiRequest, isDirect: boolean): boolean => {
  const { origin, host, upgrade } = headers;
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  const acts = !isSafe(method) || upgrade !== undefined;
  // Behind a gateway, only the gateway knows the origin's scheme, and it has checked the origin.
  if (isDirect && acts && origin !== undefined && origin !== `http://${host}`) return true;
  return isOtherSite(site) && (acts || mode !== 'navigate');
};

/** Returns why a request may not use the session's UI; undefined if it may. */
export const refusalOfAccess = (
  { id: sessionId, token }: Session,
  request: UiRequest,
): SurfaceRefusal | undefined => {
  const key = request.headers[entryKeyHeader];
  const isGateway = key !== undefined && new Secret(entryKeyOf(token, 'ui')).matches(key);
  const passes = createPasses({ token, scheme: 'http' });
  const { cookie } = request.headers;
  if (!isGateway && !passes.check({ sessionId, surface: 'ui' }, cookie)) {
    return notEntered(sessionId);
  }
  return isForeign(request, !isGateway) ? foreignOrigin(sessionId) : undefined;
};

/** Returns true if the request opens a one-time link. */
export const isEntry = ({ path }: UiRequest): boolean => path === enterPath;

/** Admits a browser that has a valid link or already has a pass. Sets a pass as a cookie and redirects to the page. */
export const enter = async (
  { consumeLink, log }: EntryParts,
  { id: sessionId, token }: Session,
  { method, headers, query }: UiRequest,
): Promise<UiAnswer | SurfaceRefusal> => {
  if (method !== 'GET') return wrongMethod();
  const passes = createPasses({ token, scheme: 'http' });
  const surface = { sessionId, surface: 'ui' } as const;
  // A browser that was admitted may open its link again.
  const hasPass = passes.check(surface, headers.cookie);
  const link = query.get('token') ?? '';
  try {
    const isGood = link !== '' && link.length <= mostTokenChars;
    if (!hasPass && !(isGood && (await consumeLink(sessionId, link)))) return linkUsed(sessionId);
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    log.warn({ err: error }, 'a link could not be checked');
    return routeUnknown(sessionId);
  }
  return {
    status: 303,
    headers: {
      location: '/',
      'cache-control': 'no-store',
      ...(hasPass ? {} : { 'set-cookie': passes.issue(surface) }),
    },
    body: null,
  };
};

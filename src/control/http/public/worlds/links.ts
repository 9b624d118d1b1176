/** Endpoint that creates links by which a person opens a surface of a session. Each link works once. */
import { AppError } from '#domain/error.ts';
import { newSecret } from '#domain/id.ts';
import type { LinkScope, SurfaceKind } from '#domain/session.ts';
import { enterPath } from '#runtime/surface-pass.ts';
import * as api from '#wire/public-api/operations.ts';
import { quotaError } from '../../../base/fairness/quotas.ts';
import { notInState } from '../../../db/sessions/ended-session.ts';
import { insertLink } from '../../../db/sessions/routes.ts';
import type { SessionRow } from '../../../db/sessions/session-row.ts';
import { findSession, noSession } from '../../../db/sessions/sessions.ts';
import type { Parts } from '../../../parts.ts';
import { hashSecretKey } from '../../../platform/tokens/tokens.ts';
import { browserUrls, surfaceAddress } from '../../../sessions/lifecycle/view.ts';
import { isOver } from '../../../sessions/lifecycle/wait.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

/**
 * Lifetime of a link, in milliseconds. It is long enough to pass the link to a person. It is so short that a link found
 * later in a browser's history has expired.
 */
const lifeMs = 10 * 60_000;

const conflict = (message: string, { state }: SessionRow): AppError =>
  new AppError('conflict', message, { detail: { state } });

/** Throws `conflict` if the session is over or closing, or was opened without this surface. */
const checkEnterable = (session: SessionRow, surface: SurfaceKind): void => {
  const { id, state, surfaces } = session;
  if (isOver(state) || state === 'CLOSING') {
    throw notInState(session, '; it can no longer be entered');
  }
  if (!surfaces.includes(surface)) {
    const way = `open a session with it, by surfaces ["${surface}"] or svc worlds session open <world> --surface ${surface}`;
    throw conflict(`${id} was opened without the surface "${surface}": ${way}`, session);
  }
};

/** Returns the message for a surface without an address: it has none yet, or this installation never gives it one. */
const lackOfAddress = ({ id, hostAddress }: SessionRow, surface: SurfaceKind): string => {
  if (surface === 'browser') return `${id} has no browser yet; links can be made once it is ready`;
  return hostAddress === null
    ? `${id} has no host yet; links can be made once it is READY`
    : 'links lead through a gateway or to a host on the same machine, and this installation has neither';
};

const onlyOfBrowsers = (opens: LinkScope): AppError => {
  const message = `only a link to the surface "browser" opens "${opens}"`;
  return new AppError('invalid', message, { fields: [{ path: ['opens'], message }] });
};

/**
 * Returns the part of a link before its key: the origin of the surface, or the address of its DevTools. Returns null
 * while the address is not known.
 */
const linkedAddress = (
  config: Parts['config'],
  session: SessionRow,
  surface: SurfaceKind,
  opens: LinkScope,
): string | null => {
  if (surface !== 'browser') return surfaceAddress(config, session, surface);
  const urls = browserUrls(config, session.id, session.browser?.address ?? null);
  if (urls === undefined) return null;
  return opens === 'devtools' ? urls.cdpUrl : new URL(urls.url).origin;
};

export const linkEndpoints = ({ config, db }: Parts): Endpoint[] => [
  endpoint(api.createSurfaceLink, async ({ params, body }, { caller: { projectId } }) => {
    const { sessionId } = params;
    const surface = body?.surface ?? 'ui';
    const opens = body?.opens ?? 'all';
    if (surface !== 'browser' && opens !== 'all') throw onlyOfBrowsers(opens);
    const session = await findSession(db, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    checkEnterable(session, surface);
    const address = linkedAddress(config, session, surface, opens);
    if (address === null) throw conflict(lackOfAddress(session, surface), session);
    const token = newSecret('lt');
    const link = { sessionId, surface, tokenHash: hashSecretKey(token) };
    const kept = await insertLink(db, { ...link, opens }, { lifeMs, usual: config.quotas.links });
    if (!(kept instanceof Date)) throw quotaError(kept);
    const query = opens === 'devtools' ? `?ticket=${token}` : `${enterPath}?token=${token}`;
    const url = `${address}${query}`;
    return respond(201, { surface, url, expiresAt: kept.toISOString() });
  }),
];

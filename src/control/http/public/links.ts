/** Links that lead a person into a surface of a session, once. */
import { AppError } from '#domain/error.ts';
import { newSecret } from '#domain/id.ts';
import type { SurfaceKind } from '#domain/session.ts';
import { enterPath } from '#runtime/surface-pass.ts';
import * as api from '#wire/public-api/operations.ts';
import { insertLink } from '../../db/routes.ts';
import { findSession, noSession, type SessionRow } from '../../db/sessions.ts';
import type { Parts } from '../../parts.ts';
import { surfaceAddress } from '../../sessions/view.ts';
import { isOver } from '../../sessions/wait.ts';
import { quotaError } from '../../shares/quotas.ts';
import { hashSecretKey } from '../../tokens/tokens.ts';
import { type Endpoint, endpoint, respond } from '../endpoint.ts';

/** Long enough to hand the link to a person, short enough to be found in no history. */
const lifeMs = 10 * 60_000;

const conflict = (message: string, { state }: SessionRow): AppError =>
  new AppError('conflict', message, { detail: { state } });

/** Throws `conflict` for a session that nobody can enter by such a surface. */
const checkEnterable = (session: SessionRow, surface: SurfaceKind): void => {
  const { id, state, surfaces } = session;
  if (isOver(state) || state === 'CLOSING') {
    throw conflict(`${id} is ${state}; nobody can enter it any more`, session);
  }
  if (!surfaces.includes(surface)) {
    throw conflict(`${id} was opened without the surface "${surface}"`, session);
  }
};

/** Why nobody knows yet where a surface is, or ever will. */
const lackOfAddress = ({ id, hostAddress }: SessionRow): string =>
  hostAddress === null
    ? `${id} has no host yet; links can be made once it is READY`
    : 'links lead through a gateway or to a host on the same machine, and this installation has neither';

export const linkEndpoints = ({ config, db }: Parts): Endpoint[] => [
  endpoint(api.createSurfaceLink, async ({ params, body }, { caller: { projectId } }) => {
    const { sessionId } = params;
    const surface = body?.surface ?? 'ui';
    const session = await findSession(db, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    checkEnterable(session, surface);
    const address = surfaceAddress(config, session, surface);
    if (address === null) throw conflict(lackOfAddress(session), session);
    const token = newSecret('lt');
    const link = { sessionId, surface, tokenHash: hashSecretKey(token) };
    const kept = await insertLink(db, link, { lifeMs, usual: config.quotas.links });
    if (!(kept instanceof Date)) throw quotaError(kept);
    const url = `${address}${enterPath}?token=${token}`;
    return respond(201, { surface, url, expiresAt: kept.toISOString() });
  }),
];

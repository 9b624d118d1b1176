/** POST /world-sessions/{sessionId}/links */
import { AppError } from '#domain/error.ts';
import { newSecret } from '#domain/id.ts';
import { surfaceUrl } from '#domain/surface-address.ts';
import { createSurfaceLink as operation } from '#wire/public-api/operations.ts';
import { insertLink } from '../../db/routes.ts';
import { findSession, type SessionRow } from '../../db/sessions.ts';
import type { Parts } from '../../parts.ts';
import { quotaError } from '../../shares/quotas.ts';
import { hashSecretKey } from '../auth.ts';
import { endpoint, respond } from '../endpoint.ts';
import { isOver, noSession } from '../waits.ts';

/** Long enough to hand the link to a person, short enough to be found in no history. */
const lifeMs = 10 * 60_000;

const refuse = (message: string, session: SessionRow): AppError =>
  new AppError('conflict', message, { detail: { state: session.state } });

export const createSurfaceLink = ({ config, db }: Pick<Parts, 'config' | 'db'>) =>
  endpoint(operation, async ({ params: { sessionId }, body }, { caller: { projectId } }) => {
    const surface = body?.surface ?? 'ui';
    const session = await findSession(db, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    if (isOver(session.state) || session.state === 'CLOSING') {
      throw refuse(`${sessionId} is ${session.state}; nobody can enter it any more`, session);
    }
    if (!session.surfaces.includes(surface)) {
      throw refuse(`${sessionId} was opened without the surface "${surface}"`, session);
    }
    if (config.gateway === null) {
      throw refuse('links lead through a gateway, and this installation has none', session);
    }
    const token = newSecret('lt');
    const link = { sessionId, surface, tokenHash: hashSecretKey(token) };
    const kept = await insertLink(db, link, { lifeMs, usual: config.quotas.links });
    if (!(kept instanceof Date)) throw quotaError(kept);
    const url = `${surfaceUrl(config.gateway.template, sessionId, surface)}/.svc/enter?token=${token}`;
    return respond(201, { surface, url, expiresAt: kept.toISOString() });
  });

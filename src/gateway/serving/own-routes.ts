/**
 * Serves the gateway's own paths, `/health` and `/ready`, for operators. Requests for these paths use host names that
 * belong to no surface.
 */

import { unknownHost } from '../http/refusals.ts';
import type { Refuser } from '../http/refuser.ts';
import type { Arrival } from '../http/server.ts';
import type { Following } from '../routes/follow.ts';

export type HealthParts = {
  /** Long poll that follows routes. */
  following: Following;
  isStopping(): boolean;
  refuser: Refuser;
};

const askControl = ({ following }: HealthParts): string => {
  const refusal = following.refusal();
  if (refusal !== undefined) return `the control plane refuses this gateway: ${refusal}`;
  return following.loop.status().last === undefined
    ? 'the control plane has not answered yet'
    : 'ok';
};

/**
 * Returns the result of each readiness check. The gateway becomes ready with the control plane's first answer. If the
 * control plane stops answering later, the gateway serves from its cache and stays ready. If the control plane rejects
 * the gateway's token, the gateway is no longer ready.
 */
const checksOf = (parts: HealthParts): Record<string, string> => ({
  running: parts.isStopping() ? 'it is stopping' : 'ok',
  control_plane: askControl(parts),
});

const healthOf = (
  path: string,
  parts: HealthParts,
): { status: number; body: object } | undefined => {
  if (path === '/health') return { status: 200, body: { status: 'ok' } };
  if (path !== '/ready') return undefined;
  const checks = checksOf(parts);
  const isReady = Object.values(checks).every((check) => check === 'ok');
  const status = isReady ? 'ready' : 'not ready';
  return { status: isReady ? 200 : 503, body: { status, checks } };
};

/** Answers a request that is not for a surface. */
export const answerOwn = (
  { request, response }: Arrival,
  path: string,
  parts: HealthParts,
): void => {
  const answer = request.method === 'GET' ? healthOf(path, parts) : undefined;
  if (answer === undefined) {
    parts.refuser.answer(request, response, unknownHost(), { isLast: true });
    return;
  }
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(parts.isStopping() ? { connection: 'close' } : {}),
  });
  response.end(body);
};

/** What the gateway has under hosts that are no surface: `/health` and `/ready`, for whoever runs it. */
import type { Loop } from '#runtime/loop.ts';
import type { Refuser } from './http/refuser.ts';
import type { Arrival } from './http/server.ts';
import { unknownHost } from './refusals.ts';

export type Standing = {
  /** The loop that follows routes. */
  following: Loop<unknown>;
  isEnding(): boolean;
  refuser: Refuser;
};

/** Ready from the first word of the control plane on; later it serves what it knows without. */
const checksOf = ({ following, isEnding }: Standing): Record<string, string> => ({
  running: isEnding() ? 'it was told to stop' : 'ok',
  control_plane: following.status().last === undefined ? 'not heard of yet' : 'ok',
});

const healthOf = (
  path: string,
  standing: Standing,
): { status: number; body: object } | undefined => {
  if (path === '/health') return { status: 200, body: { status: 'ok' } };
  if (path !== '/ready') return undefined;
  const checks = checksOf(standing);
  const isReady = Object.values(checks).every((check) => check === 'ok');
  const status = isReady ? 'ready' : 'not ready';
  return { status: isReady ? 200 : 503, body: { status, checks } };
};

/** Answers a request that is not for a surface. */
export const answerOwn = (
  { request, response }: Arrival,
  path: string,
  standing: Standing,
): void => {
  const answer = request.method === 'GET' ? healthOf(path, standing) : undefined;
  if (answer === undefined) {
    standing.refuser.answer(request, response, unknownHost(), { isLast: true });
    return;
  }
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(standing.isEnding() ? { connection: 'close' } : {}),
  });
  response.end(body);
};

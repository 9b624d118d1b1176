/**
 * Adds pushes to the traces of their sessions, as the sender tells of them: it has no way to a collector, as little as
 * world hosts have. What the first call of a session sent is part of that call's step, which alone is traced of calls.
 */
import { firstCallStep } from '#runtime/trace-steps.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { EndedPush } from '../../db/sessions/pushes.ts';

/** Adds a push that is over: from its queueing to its end, and what of that the sender took. */
export const tracePush = (tracer: Tracer, push: EndedPush): void => {
  const { sessionId, id, status, reason, failure, queuedAt, agoMs } = push;
  const endedMs = Date.now() - (agoMs ?? 0);
  const key = `push ${id}`;
  const attributes = {
    'svc.delivery.sequence': id,
    ...(status === 0 ? {} : { 'http.response.status_code': status }),
    ...(failure === null ? {} : { 'error.type': failure }),
  };
  const outcome = { attributes, ...(failure === null ? {} : { error: reason ?? failure }) };
  tracer.add(sessionId, {
    ...{ name: 'push', key, beganMs: queuedAt.getTime(), endedMs, ...outcome },
    ...(push.isOfFirstCall ? { within: firstCallStep } : {}),
  });
  if (agoMs === undefined) return;
  const times = { beganMs: endedMs - push.durationMs, endedMs };
  tracer.add(sessionId, {
    ...{ name: 'send', key: `send ${id}`, within: key, program: 'svc-sender' },
    ...{ ...times, ...outcome },
  });
};

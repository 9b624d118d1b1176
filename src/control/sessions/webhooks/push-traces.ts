/**
 * Traces webhook deliveries, as the sender reports them: like world hosts, it cannot reach a collector. Deliveries
 * made by the first call of a session belong to that call's step, the only call that is traced.
 */
import { firstCallStep } from '#runtime/trace-steps.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { EndedPush } from '../../db/sessions/pushes.ts';

/** Adds an ended delivery to the trace: the time from queueing to its end, and within it the time of the sender. */
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

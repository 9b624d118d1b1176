/**
 * Traces webhook deliveries from the reports of the sender, which, like a world host, cannot connect to a trace
 * collector. Only the first call of a session is traced, so only deliveries that this call caused are traced, as part
 * of its step.
 */
import { firstCallStep } from '#runtime/trace-steps.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { EndedPush } from '../../db/sessions/pushes.ts';

/**
 * Adds a delivery that ended to the trace: a span from queueing to the end, and within it a span for the sender's work.
 */
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

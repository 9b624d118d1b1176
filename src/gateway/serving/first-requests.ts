/**
 * Adds the first request of each session through this gateway to the session's trace, because an agent waits until the
 * first answer, not only until the session is ready. Later requests are counted, but not traced.
 */
import { LRUCache } from 'lru-cache';
import type { SurfaceKind } from '#domain/session.ts';
import type { Tracer } from '#runtime/tracing.ts';

/** Request that its host has answered. Times are in Unix milliseconds. */
export type AnsweredRequest = {
  sessionId: string;
  surface: SurfaceKind;
  status: number;
  beganMs: number;
  /** Time at which the gateway knew the address of the session's host. */
  routedMs: number;
  /** `traceparent` header of the request. */
  causedBy: string | undefined;
};

export type FirstRequests = {
  /** Called when the status and headers of an answer are sent. */
  note(request: AnsweredRequest): void;
};

const step = 'first request';

/**
 * Reports the first request of each session to a tracer. It remembers at most the given number of sessions. A session
 * that was forgotten meanwhile may be reported again.
 */
export const createFirstRequests = (tracer: Tracer, most: number): FirstRequests => {
  const seen = new LRUCache<string, true>({ max: most });
  return {
    note({ sessionId, surface, status, beganMs, routedMs, causedBy }) {
      if (seen.get(sessionId)) return;
      seen.set(sessionId, true);
      const attributes = { 'svc.surface': surface, 'http.response.status_code': status };
      tracer.add(sessionId, { name: step, beganMs, endedMs: Date.now(), attributes, causedBy });
      tracer.add(sessionId, { name: 'route', within: step, beganMs, endedMs: routedMs });
    },
  };
};

/**
 * Adds the first request of each session through this gateway to the session's trace. An agent's wait ends with the
 * first answer, not when the session is ready. Later requests are counted and not traced.
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
  /** Time at which the gateway knew where the session is served. */
  routedMs: number;
  /** `traceparent` of the request. */
  causedBy: string | undefined;
};

export type FirstRequests = {
  /** Called when the head of an answer is sent. */
  note(request: AnsweredRequest): void;
};

const step = 'first request';

/**
 * Reports first requests to a tracer. It remembers `most` sessions; one used again after a long time may be traced
 * twice.
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

/**
 * Adds the first request of each session that passes here to the session's trace: an agent's wait ends
 * with its answer, not when the session is ready. Later requests are counted and not traced.
 */
import { LRUCache } from 'lru-cache';
import type { SurfaceKind } from '#domain/session.ts';
import type { Tracer } from '#runtime/tracing.ts';

/** A request that its host has answered. Times are in Unix milliseconds. */
export type AnsweredRequest = {
  sessionId: string;
  surface: SurfaceKind;
  status: number;
  beganMs: number;
  /** When it was known where the session is served. */
  routedMs: number;
  /** The `traceparent` that it came with. */
  causedBy: string | undefined;
};

export type FirstRequests = {
  /** Told as the head of an answer is sent. */
  note(request: AnsweredRequest): void;
};

const step = 'first request';

/** Tells a tracer of them. It remembers so many sessions; one used again long after may be told twice. */
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

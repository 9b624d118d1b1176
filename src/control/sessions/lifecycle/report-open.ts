/** Metrics, trace and log of a request that opens a session. */
import { AppError } from '#domain/error.ts';
import type { SessionStart } from '#domain/session.ts';
import type { SessionRow } from '../../db/sessions/session-row.ts';
import type { OpenOutcome } from '../../platform/telemetry/counters.ts';
import type { SessionParts } from '../parts.ts';

/** Session that a request opened, or that an earlier request with the same `Idempotency-Key` opened. */
export type Opened = {
  session: SessionRow;
  isNew: boolean;
  start?: SessionStart;
  /** Time at which the version, the task and the surfaces were known, in Unix milliseconds. */
  resolvedMs?: number;
};

/** Returns the label of an open for the metrics. */
export const outcomeOf = ({ isNew, start }: Opened): OpenOutcome => {
  if (!isNew) return 'repeated';
  return start === 'cold' ? 'waiting' : 'claimed';
};

/** Returns the label of a failed open for the metrics. */
export const refusalOf = (error: unknown): OpenOutcome => {
  if (!(error instanceof AppError) || error.code === 'unavailable') return 'failed';
  if (error.code !== 'exhausted') return 'refused';
  return error.detail.quota === undefined ? 'crowded' : 'quota';
};

/** Adds the steps of an open to the trace of its session; nothing for a repeated request. */
export const traceOpen = (
  { tracer }: SessionParts,
  causedBy: string | undefined,
  { session: { id }, resolvedMs, start }: Opened,
  beganMs: number,
): void => {
  if (resolvedMs === undefined || start === undefined) return;
  const endedMs = Date.now();
  tracer.add(id, { name: 'request', beganMs, endedMs, causedBy, attributes: { start } });
  tracer.add(id, { name: 'resolve', within: 'request', beganMs, endedMs: resolvedMs });
  tracer.add(id, { name: 'claim', within: 'request', beganMs: resolvedMs, endedMs });
};

/** Logs that a session was opened, with its host and version. */
export const logOpened = ({ log }: SessionParts, { session, start }: Opened): void => {
  const { id: sessionId, hostId, versionId } = session;
  log.info({ sessionId, hostId, versionId, start }, 'session opened');
};

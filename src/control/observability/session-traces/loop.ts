/**
 * Loop of each control plane that reports sessions in their traces. If a batch fails, its items are reported one at a
 * time; an item that fails alone is postponed, longer each time.
 *
 * A batch costs some twenty statements, whatever its size, and a session reported once at its end costs half of one
 * reported twice. So the more items a batch had, the longer the next one waits.
 */
import { type Loop, startLoop } from '#runtime/loop.ts';
import { postponeDue, takeDues } from '../../db/observability/session-traces.ts';
import type { ObservabilityParts } from '../parts.ts';
import { type Batch, type BatchTold, tellBatch } from './report.ts';

const everyMs = 500;
/** Wait before the next batch, for each item of the last one, in milliseconds. */
const restMsOfDue = 40;
const longestRestMs = 1_500;
const whole: Batch = { dues: 200, bytes: 8 * 1024 * 1024 };
const single: Batch = { dues: 1, bytes: 0 };
/** A batch has rows of many projects, so it waits only briefly for locked rows. */
const locking = { rowsMs: 500 };
/** Maximum number of items reported one at a time after a batch failed. */
const mostSingle = 200;

type Told = { observations: number; dues: number };

const tell = async (
  { traces, readGrade }: ObservabilityParts,
  batch: Batch,
): Promise<BatchTold> => {
  const week = await traces.weeks.current();
  return traces.db.transaction(
    (tx) => tellBatch(tx, { week, readGrade, prices: traces.prices }, batch),
    'by_key',
    locking,
  );
};

/** Postpones the first item of the outbox. */
const postponeFirst = (parts: ObservabilityParts, cause: unknown): Promise<void> =>
  parts.traces.db.transaction(async (tx) => {
    const [due] = await takeDues(tx, 1);
    if (due === undefined) return;
    parts.metrics.sessionTraceFailures.inc();
    const { sessionId, attempts } = due;
    parts.log.warn({ err: cause, sessionId, attempts }, 'a session is told in its trace later');
    await postponeDue(tx, due.id);
  });

/** Reports items one by one; one that fails does not hold up the rest. */
const tellSingly = async (parts: ObservabilityParts, signal: AbortSignal): Promise<Told> => {
  const told = { observations: 0, dues: 0 };
  while (told.dues < mostSingle && !signal.aborted) {
    try {
      const { dues, observations } = await tell(parts, single);
      if (dues === 0) break;
      told.observations += observations;
    } catch (error) {
      await postponeFirst(parts, error);
    }
    told.dues += 1;
  }
  return told;
};

const tick = async (parts: ObservabilityParts, signal: AbortSignal): Promise<Told> => {
  const told = { observations: 0, dues: 0 };
  const add = ({ observations, dues }: Told): void => {
    told.observations += observations;
    told.dues += dues;
    parts.metrics.sessionObservations.inc(observations);
  };
  let isFull = true;
  while (isFull && !signal.aborted) {
    try {
      const telling = await tell(parts, whole);
      add(telling);
      isFull = telling.isFull;
    } catch (error) {
      parts.log.debug({ err: error }, 'a batch of what sessions did is told one by one');
      add(await tellSingly(parts, signal));
    }
  }
  return told;
};

/** Starts the loop. */
export const startSessionTraces = (parts: ObservabilityParts): Loop<Told> => {
  let nextAt = 0;
  return startLoop({
    name: 'session-traces',
    everyMs,
    log: parts.log,
    tick: async (signal) => {
      if (performance.now() < nextAt) return { observations: 0, dues: 0 };
      const told = await tick(parts, signal);
      nextAt = performance.now() + Math.min(longestRestMs, told.dues * restMsOfDue);
      return told;
    },
  });
};

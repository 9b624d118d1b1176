/**
 * Loop of each control plane that writes reports about sessions into the sessions' traces. If a batch fails, its
 * entries are reported one at a time. An entry that fails alone is postponed, longer each time.
 *
 * A batch costs some twenty statements, whatever its size. Two reports about a session cost twice as much as one at its
 * end. After a large batch the loop therefore waits longer, so that more entries of a session collect for the next
 * batch.
 */
import { type Loop, startLoop } from '#runtime/loop.ts';
import { postponeOutboxEntry, takeOutboxEntries } from '../../db/observability/session-traces.ts';
import type { ObservabilityParts } from '../parts.ts';
import { type Batch, type BatchResult, reportBatch } from './report.ts';

const everyMs = 500;
/** Wait before the next batch, in milliseconds for each entry of the last batch. */
const restMsOfEntry = 40;
const longestRestMs = 1_500;
const whole: Batch = { entries: 200, bytes: 8 * 1024 * 1024 };
const single: Batch = { entries: 1, bytes: 0 };
/** Maximum wait for locked rows, in milliseconds. It is short, because a batch has rows of many projects. */
const locking = { rowsMs: 500 };
/** Maximum number of entries reported one at a time after a batch failed. */
const mostSingle = 200;

type Reported = { observations: number; entries: number };

const report = async (
  { traces, readGrade }: ObservabilityParts,
  batch: Batch,
): Promise<BatchResult> => {
  const week = await traces.weeks.current();
  return traces.db.transaction(
    (tx) => reportBatch(tx, { week, readGrade, prices: traces.prices }, batch),
    'by_key',
    locking,
  );
};

/** Postpones the first entry of the outbox. */
const postponeFirst = (parts: ObservabilityParts, cause: unknown): Promise<void> =>
  parts.traces.db.transaction(async (tx) => {
    const [entry] = await takeOutboxEntries(tx, 1);
    if (entry === undefined) return;
    parts.metrics.sessionTraceFailures.inc();
    const { sessionId, attempts } = entry;
    parts.log.warn(
      { err: cause, sessionId, attempts },
      'postponed the report of a session in its trace',
    );
    await postponeOutboxEntry(tx, entry.id);
  });

/** Reports entries one at a time; an entry that fails does not hold up the rest. */
const reportSingly = async (parts: ObservabilityParts, signal: AbortSignal): Promise<Reported> => {
  const total = { observations: 0, entries: 0 };
  while (total.entries < mostSingle && !signal.aborted) {
    try {
      const { entries, observations } = await report(parts, single);
      if (entries === 0) break;
      total.observations += observations;
    } catch (error) {
      await postponeFirst(parts, error);
    }
    total.entries += 1;
  }
  return total;
};

const tick = async (parts: ObservabilityParts, signal: AbortSignal): Promise<Reported> => {
  const total = { observations: 0, entries: 0 };
  const add = ({ observations, entries }: Reported): void => {
    total.observations += observations;
    total.entries += entries;
    parts.metrics.sessionObservations.inc(observations);
  };
  let isFull = true;
  while (isFull && !signal.aborted) {
    try {
      const result = await report(parts, whole);
      add(result);
      isFull = result.isFull;
    } catch (error) {
      parts.log.debug(
        { err: error },
        'a batch of session reports failed; its entries are reported one by one',
      );
      add(await reportSingly(parts, signal));
    }
  }
  return total;
};

/** Starts the loop. */
export const startSessionTraces = (parts: ObservabilityParts): Loop<Reported> => {
  let nextAt = 0;
  return startLoop({
    name: 'session-traces',
    everyMs,
    log: parts.log,
    tick: async (signal) => {
      if (performance.now() < nextAt) return { observations: 0, entries: 0 };
      const total = await tick(parts, signal);
      nextAt = performance.now() + Math.min(longestRestMs, total.entries * restMsOfEntry);
      return total;
    },
  });
};

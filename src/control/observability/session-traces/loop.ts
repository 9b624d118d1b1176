/**
 * The loop that tells of sessions in their traces, in each control plane. What fails in a batch is told one at a time;
 * what fails alone is left for later, longer each time.
 *
 * A batch costs some twenty statements, whatever there is in it, and a session that is told when it is over costs half of
 * one that is told twice. So the more there was to tell, the longer what comes next waits.
 */
import { type Loop, startLoop } from '#runtime/loop.ts';
import { postponeDue, takeDues } from '../../db/observability/session-traces.ts';
import type { ObservabilityParts } from '../parts.ts';
import { type Batch, type BatchTold, tellBatch } from './report.ts';

const everyMs = 500;
/** How long what comes next waits, for each due that was told. */
const restMsOfDue = 40;
const longestRestMs = 1_500;
const whole: Batch = { dues: 200, bytes: 8 * 1024 * 1024 };
const single: Batch = { dues: 1, bytes: 0 };
/** A batch holds rows of many projects: for those that others hold it waits briefly. */
const locking = { rowsMs: 500 };
/** Dues that are told one at a time after a batch failed. */
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

/** Leaves the first for later. */
const postponeFirst = (parts: ObservabilityParts, cause: unknown): Promise<void> =>
  parts.traces.db.transaction(async (tx) => {
    const [due] = await takeDues(tx, 1);
    if (due === undefined) return;
    parts.metrics.sessionTraceFailures.inc();
    const { sessionId, attempts } = due;
    parts.log.warn({ err: cause, sessionId, attempts }, 'a session is told in its trace later');
    await postponeDue(tx, due.id);
  });

/** Tells them one by one; whichever cannot be told lets the others pass. */
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

/** Starts it. */
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

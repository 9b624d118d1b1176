/**
 * Queues reports for the control plane while another report is in flight. It repeats each until it is accepted, for as
 * long as the control plane waits for it.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { until } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import { type PushReport, pushBatchMost, reportPushes } from '#wire/sender-api/operations.ts';

/**
 * Age at which a report is dropped: the control plane has by then recorded that the sender ended, and no longer
 * accepts it.
 */
const worthMs = 120_000;
const answerMs = 10_000;
const restMs = 1_000;

export type Reports = {
  add(report: PushReport): void;
  waiting(): number;
  loop: Loop<void>;
  /** Resolves when everything is reported, or after `mostMs`. */
  flushed(mostMs: number): Promise<void>;
};

/** Starts reporting under a claim. */
export const startReports = (client: Client, claim: string, log: Log): Reports => {
  let waiting: { report: PushReport; since: number }[] = [];
  const isWorth = ({ since }: { since: number }) => performance.now() - since < worthMs;

  let most = pushBatchMost;
  const send = async (reports: PushReport[]): Promise<void> => {
    try {
      await client.send(reportPushes, { body: { claim, reports }, answerMs });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid') throw error;
      if (reports.length > 1) throw error;
      const { sessionId, sequence } = reports[0] ?? {};
      log.error({ err: error, sessionId, sequence }, 'a report was refused, and is left out');
    }
  };

  const sendWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      // If a batch is refused, its reports are sent one by one, so that only the refused one is left out.
      most = 1;
      await send(
        batch.map(({ report, since }) => ({ ...report, agoMs: performance.now() - since })),
      );
      waiting = waiting.slice(batch.length);
      most = pushBatchMost;
    }
  };

  const loop = startLoop({
    name: 'reports',
    everyMs: restMs,
    log,
    async tick() {
      const kept = waiting.filter(isWorth);
      if (kept.length < waiting.length) {
        log.error({ reports: waiting.length - kept.length }, 'reports were not taken in time');
      }
      waiting = kept;
      await sendWaiting();
    },
  });

  return {
    add(report) {
      waiting.push({ report, since: performance.now() });
      loop.nudge();
    },
    waiting: () => waiting.length,
    loop,
    async flushed(mostMs) {
      try {
        await until(
          () => {
            loop.nudge();
            return waiting.length === 0;
          },
          { timeoutMs: mostMs, what: 'reports to be taken' },
        );
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        log.error({ reports: waiting.length }, 'ended with reports that were not taken');
      }
    },
  };
};

/**
 * Sends the outcomes of deliveries to the control plane. Reports wait while an earlier request is in flight. Each
 * report is repeated until the control plane accepts it, or until it is too old to be accepted.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { until } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import { type PushReport, pushBatchMost, reportPushes } from '#wire/sender-api/operations.ts';

/**
 * Age at which a report is dropped, in milliseconds: the control plane has by then recorded that the sender ended, and
 * no longer accepts the report.
 */
const worthMs = 120_000;
const answerMs = 10_000;
const restMs = 1_000;

export type Reports = {
  add(report: PushReport): void;
  waiting(): number;
  loop: Loop<void>;
  /** Resolves when all outcomes are reported, or after `mostMs` milliseconds. */
  flushed(mostMs: number): Promise<void>;
};

/** Starts a reporter for the deliveries claimed under the given name. */
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
      log.error(
        { err: error, sessionId, sequence },
        'the control plane refused a report, which is dropped',
      );
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
        log.error(
          { reports: waiting.length - kept.length },
          'the control plane did not accept reports in time; they are dropped',
        );
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
        log.error(
          { reports: waiting.length },
          'stopped with reports that the control plane has not accepted',
        );
      }
    },
  };
};

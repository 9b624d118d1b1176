/**
 * Wires the sender together: it claims deliveries from the control plane, posts them, and reports the outcomes. It
 * stores no state, and its token permits only these steps. The sender has no access to the database, to keys of
 * projects or to hosts.
 */
import { randomUUID } from 'node:crypto';
import type { Network } from '#egress/connect.ts';
import type { Log } from '#runtime/log.ts';
import { createLoopBoard } from '#runtime/loop-board.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import type { Running } from '#runtime/run.ts';
import { createClient } from '#wire/client.ts';
import type { PushReport } from '#wire/sender-api/operations.ts';
import type { SenderConfig } from './config.ts';
import { startDispatch } from './dispatch.ts';
import { createMetrics } from './metrics.ts';
import { startReports } from './reports.ts';

export type RunningSender = Running & {
  /** `http://host:port` of each address that serves metrics. */
  metricsAddresses: string[];
};

/**
 * Maximum time to send the last reports during a shutdown, in milliseconds. Deliveries in flight have a deadline of
 * their own.
 */
const flushMs = 8_000;
const stopDeadlineMs = 30_000;

/** Starts a sender that reaches receivers through the given network. */
export const startSender = async (
  config: SenderConfig,
  network: Network,
  log: Log,
): Promise<RunningSender> => {
  const client = createClient({
    baseUrl: `${config.controlUrl}/api/sender`,
    authorization: `Bearer ${config.token.reveal()}`,
  });
  const claim = `snd-${randomUUID()}`;
  const metrics = createMetrics(() => dispatch.underWay());
  const reports = startReports(client, claim, log);
  const done = (report: PushReport): void => {
    metrics.sent.inc({ outcome: report.failure ?? 'answered' });
    metrics.seconds.observe(report.durationMs / 1_000);
    reports.add(report);
  };
  const { atOnce } = config;
  const dispatch = startDispatch({ client, claim, network, atOnce, done, log });
  const board = createLoopBoard();
  board.show(dispatch.loop);
  board.show(reports.loop);
  const watching = await serveMetrics(
    {
      program: 'sender',
      registry: metrics.registry,
      loops: board.statuses,
      details: () => ({ underWay: dispatch.underWay(), reports: reports.waiting() }),
      log,
    },
    config.metricsListen,
  );
  let stopped: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await dispatch.stop();
    await reports.flushed(flushMs);
    await reports.loop.stop();
    await watching.stop(0);
  };
  log.info({ claim }, 'sending');
  return {
    metricsAddresses: watching.addresses,
    stopDeadlineMs,
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
};

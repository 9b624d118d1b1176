import { afterEach, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { createLog } from '#runtime/log.ts';
import type { Client } from '#wire/client.ts';
import type { PushReport } from '#wire/sender-api/operations.ts';
import { type Reports, startReports } from './reports.ts';

let reports: Reports;
afterEach(() => reports.loop.stop());

const report = (sequence: number): PushReport => ({
  ...{ sessionId: 'ses-1', sequence, status: 200, failure: null, reason: null, durationMs: 1 },
});

/** Starts reporting to a control plane that handles each batch with `take`. */
const start = (take: (sequences: number[]) => void): void => {
  const send = async (_: unknown, { body }: { body: { reports: PushReport[] } }) => {
    take(body.reports.map(({ sequence }) => sequence));
    return { status: 200, body: { recorded: 1 } };
  };
  const client = { baseUrl: '', send } as unknown as Client;
  reports = startReports(client, 'snd-0123456789abcdef', createLog('test', 'silent'));
};

it('the reporter of outcomes sends each report until it is accepted, even after an outage of the control plane', async () => {
  const taken: number[] = [];
  let isAway = true;
  start((sequences) => {
    if (isAway) throw new AppError('unavailable', 'away');
    taken.push(...sequences);
  });
  for (let sequence = 1; sequence <= 250; sequence += 1) reports.add(report(sequence));
  await reports.flushed(100);
  expect([taken, reports.waiting()]).toEqual([[], 250]);
  isAway = false;
  await reports.flushed(10_000);
  expect(taken).toEqual(Array.from({ length: 250 }, (_, at) => at + 1));
});

it('the reporter of outcomes drops a refused report, and no other one', async () => {
  const taken: number[] = [];
  start((sequences) => {
    if (sequences.includes(3)) throw new AppError('invalid', 'no report');
    taken.push(...sequences);
  });
  for (let sequence = 1; sequence <= 5; sequence += 1) reports.add(report(sequence));
  await reports.flushed(10_000);
  expect(taken.toSorted()).toEqual([1, 2, 4, 5]);
});

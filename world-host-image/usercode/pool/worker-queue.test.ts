/** Tests the queue of a language whose worker cannot be started. Vitest fails a run that leaves a rejection unhandled. */
import { expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import { defaultLimits } from '../run.ts';
import { WorkerQueue } from './worker-queue.ts';

const broken: WorkerKind = {
  language: 'python',
  launch: { command: '/bin/false', arguments: [], environment: {}, directory: '/' },
  isPrestarted: true,
  ownMb: 16,
  laterThreads: 0,
  readTimeoutTrace: () => [],
};

it('a queue whose worker does not start reports it to the caller that needs the worker', async () => {
  const queue = new WorkerQueue(broken, defaultLimits, createLog('test', 'silent'));
  await expect(queue.point('/nowhere')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('the python worker did not start'),
  });
  await queue.stop();
});

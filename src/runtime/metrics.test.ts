import { Counter } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { readEnv } from './env.ts';
import type { Bound } from './listen.ts';
import { createLog } from './log.ts';
import { startLoop } from './loop.ts';
import { createLoopBoard } from './loop-board.ts';
import { newRegistry, readMetricsListen, readTogether, serveMetrics } from './metrics.ts';

const log = createLog('test', 'silent');
const anywhere = [{ host: '127.0.0.1', port: 0 }];
let bound: Bound | undefined;
afterEach(() => bound?.stop(0));

const get = async (path: string): Promise<string> => {
  const answer = await fetch(`${bound?.addresses[0]}${path}`);
  return answer.text();
};

describe('the metrics of a program', () => {
  it('are served with the last results of its loops', async () => {
    const registry = newRegistry();
    new Counter({ name: 'svc_things_total', help: 'things', registers: [registry] }).inc(3);
    const board = createLoopBoard();
    const ticked = Promise.withResolvers<void>();
    const tick = async (): Promise<number> => {
      ticked.resolve();
      return 7;
    };
    const loop = board.show(startLoop({ name: 'seven', everyMs: 60_000, tick, log }));
    const watched = { program: 'test', registry, loops: board.statuses, log };
    bound = await serveMetrics({ ...watched, details: () => ({ leading: true }) }, anywhere);
    await ticked.promise;
    const metrics = await get('/metrics');
    expect(metrics).toContain('svc_things_total 3');
    expect(metrics).toContain('svc_loop_ticks_total{loop="seven"} 1');
    expect(metrics).toContain('process_cpu_seconds_total');
    const status = JSON.parse(await get('/status'));
    expect(status).toMatchObject({ program: 'test', details: { leading: true } });
    expect(status.loops).toMatchObject([{ name: 'seven', ticks: 1, failures: 0, last: 7 }]);
    expect(Date.parse(status.loops[0].succeededAt)).toBeGreaterThan(0);
    await loop.stop();
    expect(JSON.parse(await get('/status')).loops).toEqual([]);
    expect(await get('/elsewhere')).toContain('/metrics and /status');
  });

  it('are not served unless an address is configured', async () => {
    const env = readEnv({});
    expect(readMetricsListen(env)).toEqual([]);
    env.finish();
    const wrong = readEnv({ SVC_METRICS_LISTEN: 'here' });
    readMetricsListen(wrong);
    expect(() => wrong.finish()).toThrow('SVC_METRICS_LISTEN has "here", which is not a host:port');
  });
});

describe('a reading of several gauges', () => {
  it('runs once for all concurrent requests, and fails for each of them if it fails', async () => {
    let reads = 0;
    const read = readTogether(async () => {
      reads += 1;
      if (reads > 1) throw new Error('the database is away');
    }, log);
    expect(await Promise.all([read(), read()])).toEqual([true, true]);
    expect(reads).toBe(1);
    expect(await read()).toBe(false);
  });

  it('fails before the timeout of Prometheus if the database hangs', async () => {
    const never = Promise.withResolvers<void>();
    const read = readTogether(() => never.promise, log, 10);
    expect(await Promise.all([read(), read()])).toEqual([false, false]);
    never.resolve();
  });
});

import { describe, expect, it } from 'vitest';
import { readEnv } from './env.ts';
import { createLog } from './log.ts';
import { until } from './pause.ts';
import { readOtlpEndpoint, startTracer, traceIdOf } from './tracing.ts';

const log = createLog('test', 'silent');

describe('a tracer', () => {
  it('costs nothing and sends nothing where no collector is configured', async () => {
    const env = readEnv({});
    expect(readOtlpEndpoint(env)).toBeNull();
    const tracer = startTracer('test', null, log);
    expect(tracer.loops).toEqual([]);
    tracer.add('ses-1', { name: 'open', beganMs: 1, endedMs: 2 });
    await tracer.stop();
  });

  it('ends though its collector is away', async () => {
    const tracer = startTracer('test', 'http://127.0.0.1:1', log);
    tracer.add('ses-1', { name: 'open', beganMs: 1, endedMs: 2 });
    const [sending] = tracer.loops;
    await until(() => sending?.status().lastError, { timeoutMs: 10_000, what: 'a failed tick' });
    expect(sending?.status().name).toBe('traces');
    await tracer.stop();
  });

  it('gives each session a trace of its own, the same everywhere', () => {
    expect(traceIdOf('ses-1')).toMatch(/^[0-9a-f]{32}$/);
    expect(traceIdOf('ses-1')).toBe(traceIdOf('ses-1'));
    expect(traceIdOf('ses-1')).not.toBe(traceIdOf('ses-2'));
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startCollector, type TestCollector } from '#test/support/programs/collector.ts';
import { readEnv } from './env.ts';
import { createLog } from './log.ts';
import { until } from './pause.ts';
import { traceIdOf } from './trace-steps.ts';
import { readOtlpEndpoint, startTracer } from './tracing.ts';

const log = createLog('test', 'silent');

let collector: TestCollector;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => {
  vi.unstubAllEnvs();
  collector.stop();
});

describe('a tracer', () => {
  it('does nothing if no collector is configured', async () => {
    const env = readEnv({});
    expect(readOtlpEndpoint(env)).toBeNull();
    const tracer = startTracer('test', null, log);
    expect(tracer.loops).toEqual([]);
    tracer.add('ses-1', { name: 'open', beganMs: 1, endedMs: 2 });
    await tracer.stop();
  });

  it('stops even if its collector is unreachable', async () => {
    const tracer = startTracer('test', 'http://127.0.0.1:1', log);
    tracer.add('ses-1', { name: 'open', beganMs: 1, endedMs: 2 });
    const [sending] = tracer.loops;
    await until(() => sending?.status().lastError, { timeoutMs: 10_000, what: 'a failed tick' });
    expect(sending?.status().name).toBe('traces');
    await tracer.stop();
  });

  it('sends each span once, however often its collector fails, and sends the remaining spans when it stops', async () => {
    collector.refuse(500, 2);
    const tracer = startTracer('test', `${collector.endpoint}/`, log);
    tracer.add('ses-1', {
      name: 'open',
      beganMs: 1_700_000_000_000.25,
      endedMs: 1_700_000_000_001,
      attributes: { size: 3, warm: true, pool: 'a' },
      error: 'no host',
    });
    await until(() => collector.requests.length > 2, {
      timeoutMs: 10_000,
      what: 'a third attempt',
    });
    tracer.add('ses-1', {
      name: 'load',
      within: 'prepare',
      beganMs: 2,
      endedMs: 1,
      program: 'other',
    });
    await tracer.stop();
    expect(collector.spans).toMatchObject([
      {
        program: 'test',
        name: 'open',
        traceId: traceIdOf('ses-1'),
        startTimeUnixNano: '1700000000000250000',
        endTimeUnixNano: '1700000000001000000',
        status: { code: 2, message: 'no host' },
        attributes: [
          { key: 'svc.session.id', value: { stringValue: 'ses-1' } },
          { key: 'size', value: { intValue: 3 } },
          { key: 'warm', value: { boolValue: true } },
          { key: 'pool', value: { stringValue: 'a' } },
        ],
      },
      { program: 'other', name: 'load', startTimeUnixNano: '2000000', endTimeUnixNano: '2000000' },
    ]);
    expect(collector.spans[0]?.parentSpanId).toBeUndefined();
    expect(collector.spans[1]?.parentSpanId).toMatch(/^[0-9a-f]{16}$/);
  });

  it('sends the headers that its environment configures', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20abc');
    const tracer = startTracer('test', collector.endpoint, log);
    tracer.add('ses-1', { name: 'open', beganMs: 1, endedMs: 2 });
    await tracer.stop();
    expect(collector.requests).toMatchObject([{ authorization: 'Bearer abc' }]);
  });

  it('derives one trace id for each session, equal in every program', () => {
    expect(traceIdOf('ses-1')).toMatch(/^[0-9a-f]{32}$/);
    expect(traceIdOf('ses-1')).toBe(traceIdOf('ses-1'));
    expect(traceIdOf('ses-1')).not.toBe(traceIdOf('ses-2'));
  });
});

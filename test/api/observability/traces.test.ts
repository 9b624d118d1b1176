/** Tests the OpenTelemetry trace of a session: one trace with the spans of all programs, as a collector receives it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { createLoopBoard } from '#runtime/loop-board.ts';
import { until } from '#runtime/pause.ts';
import type { Running } from '#runtime/run.ts';
import { traceIdOf } from '#runtime/trace-steps.ts';
import { startTracer } from '#runtime/tracing.ts';
import { createClient } from '#wire/client.ts';
import { reportReady, reportWarm } from '#wire/host-api/operations.ts';
import { enqueueCall, openSession } from '#wire/public-api/operations.ts';
import { claimPushes, type PushReport, reportPushes } from '#wire/sender-api/operations.ts';
import { readConfig } from '../../../orchestrator/config.ts';
import { startOrchestrator } from '../../../orchestrator/program.ts';
import { createMetrics } from '../../../orchestrator/signals/metrics.ts';
import { hostToken } from '../../../src/control/platform/tokens/tokens.ts';
import { atReplica, baseState, installation, type PlayedHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { setPush } from '../../support/control/settings.ts';
import { createMachine, createMemoryDriver } from '../../support/orchestrator/memory-driver.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import { startCollector, type TestCollector } from '../../support/programs/collector.ts';
import { deliveryEntry, tellOf } from '../../support/webhooks/pushing.ts';

let control: OwnControl;
let orchestrator: Running;
let collector: TestCollector;
const launched: string[] = [];
const log = createLog('test', 'silent');

const startPools = (otlpEndpoint: string): Running => {
  const controlUrl = control.running.addresses.internal[0] ?? '';
  const poolToken = control.config.poolToken.reveal();
  const config = readConfig(
    {
      SVC_CONTROL_URL: controlUrl,
      SVC_HOST_CONTROL_URL: control.running.addresses.host[0],
      SVC_POOL_TOKEN: poolToken,
      SVC_INSTALLATION: installation,
      SVC_RUNTIME: 'process',
    },
    'test',
  );
  const machine = createMachine();
  machine.onLaunch = (hostId) => void launched.push(hostId);
  const pools = [testPool({ target: 0, minimum: 0, maximum: 2, isolation: 'process' })];
  return startOrchestrator({
    config,
    settings: () => ({ ...config.settings, pools }),
    client: createClient({
      baseUrl: `${controlUrl}/api/pool`,
      authorization: `Bearer ${poolToken}`,
    }),
    driver: createMemoryDriver(machine),
    metrics: createMetrics(),
    tracer: startTracer('svc-orchestrator', otlpEndpoint, log),
    board: createLoopBoard(),
    log,
    say: () => undefined,
  });
};

beforeAll(async () => {
  collector = await startCollector();
  control = await startNotesControl({ otlpEndpoint: collector.endpoint });
  orchestrator = startPools(collector.endpoint);
});

afterAll(async () => {
  await orchestrator.stop();
  await control.stop();
  collector.stop();
});

/** Returns a host that was launched for the waiting session; `turn` is the index of the host among these, from 0. */
const launchedHost = async (turn = 0): Promise<PlayedHost> => {
  const id = await until(() => launched[turn], { timeoutMs: 10_000, what: 'a launch' });
  const token = hostToken(control.config.secret, id);
  const blank = { id, token, generation: 0, assignment: undefined };
  const host = atReplica(blank as PlayedHost, control);
  await host.send(reportWarm, { params: { hostId: id }, body: { generation: 0 } });
  return host;
};

it('the trace of a cold open joins the spans of control plane, orchestrator and host', async () => {
  const headers = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  const { body: session } = await control.send(openSession, { body: { slug: 'notes' }, headers });
  const params = { sessionId: session.id };
  const host = await launchedHost();
  const assignment = await host.poll();
  await host.send(reportReady, {
    params,
    body: {
      generation: host.generation,
      holding: { bundle: assignment?.bundle ?? baseState, stateDigest: baseState },
      steps: [{ name: 'load', agoMs: 1, tookMs: 5 }],
    },
  });
  const { body: call } = await control.send(enqueueCall, { params, body: { kind: 'state' } });
  await host.calls();
  await host.answer(call.id, { output: {} });

  const names = ['open', 'request', 'resolve', 'claim', 'wait', 'launch', 'prepare', 'load'];
  const wanted = [...names, 'first call', 'run'];
  const spans = await until(
    () =>
      wanted.every((name) => collector.spans.some((span) => span.name === name)) && collector.spans,
    { timeoutMs: 10_000, what: 'all steps' },
  );
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(session.id)]));
  const named = (name: string) => spans.find((span) => span.name === name);
  expect(named('launch')?.program).toBe('svc-orchestrator');
  expect(named('load')?.program).toBe('svc-world-host');
  expect(named('open')).toMatchObject({ program: 'svc-control' });
  expect(named('open')?.parentSpanId).toBeUndefined();
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(ids.size).toBe(wanted.length);
  expect(
    spans.filter(({ parentSpanId = named('open')?.spanId }) => !ids.has(parentSpanId ?? '')),
  ).toEqual([]);
  expect(named('request')?.links).toMatchObject([{ traceId: 'a'.repeat(32) }]);
  for (const { startTimeUnixNano: from, endTimeUnixNano: to } of spans) {
    expect(BigInt(to) >= BigInt(from)).toBe(true);
  }
});

it('the push of a delivery joins the trace of the call that sent it', async () => {
  await setPush(control, true);
  const { body: session } = await control.send(openSession, { body: { slug: 'notes' } });
  const params = { sessionId: session.id };
  const host = await launchedHost(1);
  await host.poll();
  await host.ready();
  const sentBy = async (id: number): Promise<void> => {
    const { body: call } = await control.send(enqueueCall, { params, body: { kind: 'state' } });
    await host.calls();
    await host.answer(call.id, { output: {} });
    const url = `https://${id}.receiver.dev/`;
    await tellOf(host, [deliveryEntry(id, url, { callId: call.id })]);
  };
  await sentBy(1);
  await sentBy(2);
  const claim = 'snd-0123456789abcdef';
  await control.sender(claimPushes, { body: { claim, most: 10 } });
  const report = (sequence: number, parts: Partial<PushReport>): PushReport => ({
    ...{ sessionId: session.id, sequence, status: 200, failure: null, reason: null },
    ...{ durationMs: 40, agoMs: 5, ...parts },
  });
  const timeout = { status: 0, failure: 'timeout', reason: 'no answer within 10 s' } as const;
  await control.sender(reportPushes, {
    body: { claim, reports: [report(1, {}), report(2, timeout)] },
  });

  const traceId = traceIdOf(session.id);
  const spans = await until(
    () => {
      const own = collector.spans.filter((span) => span.traceId === traceId);
      return own.filter(({ name }) => name === 'send').length === 2 && own;
    },
    { timeoutMs: 10_000, what: 'the pushes' },
  );
  const find = (name: string, sequence: number) =>
    spans.find(
      (span) =>
        span.name === name &&
        span.attributes.some(
          ({ key, value }) =>
            key === 'svc.delivery.sequence' && Object.values(value)[0] === sequence,
        ),
    );
  const whole = spans.find(({ name }) => name === 'open')?.spanId;
  const first = spans.find(({ name }) => name === 'first call')?.spanId;
  expect(find('push', 1)).toMatchObject({ program: 'svc-control', parentSpanId: first });
  expect(find('push', 2)).toMatchObject({ parentSpanId: whole });
  expect(find('send', 1)).toMatchObject({
    program: 'svc-sender',
    parentSpanId: find('push', 1)?.spanId,
  });
  expect(find('send', 2)?.status.message).toBe(timeout.reason);
  const { startTimeUnixNano: from, endTimeUnixNano: to } = find('send', 1) ?? {};
  expect(Number(BigInt(to ?? 0) - BigInt(from ?? 0)) / 1e6).toBeCloseTo(40, 0);
});

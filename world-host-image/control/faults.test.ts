/** Declared faults during the life of a host: they end with their session, and never delay its end. */
import { expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { issues, openOn, startBench } from '#test/support/host/host-bench.ts';

it('faults that are set in one session are not in force in the host’s next session', async () => {
  const { control } = await startBench();
  const first = await openOn(control);
  const rules = [{ name: 'down', status: 503 }];
  expect((await control.call('faults', undefined, { rules })).error).toBeUndefined();
  expect((await first('GET', issues)).status).toBe(503);
  control.close(true, 'recycle');
  const next = { sessionId: 'ses-2', generation: 2, sessionToken: 'st-two' };
  const second = await openOn(control, next, 2);
  expect((await second('GET', issues)).status).toBe(200);
  expect((await control.call('faults')).output).toMatchObject({
    declared: true,
    faults: { rules: [] },
  });
});

it('when a session closes, answers that a fault still delays are sent', async () => {
  const { control } = await startBench();
  const api = await openOn(control);
  await control.call('faults', undefined, {
    rules: [{ name: 'slow', routes: ['/repos/*'], latency_ms: 60_000 }],
  });
  const held = api('GET', issues);
  const requests = async () =>
    (await control.call('state', undefined, { entity: 'svc_requests', where: { via: 'api' } }))
      .output;
  await until(async () => ((await requests()) as { total: number }).total === 1, {
    timeoutMs: 30_000,
    what: 'the request in the ledger',
  });
  control.close(true, 'recycle');
  await control.message('reportWarm', 2);
  expect((await held).status).toBe(200);
});

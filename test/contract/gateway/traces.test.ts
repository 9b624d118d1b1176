/** Tests the gateway's spans in the trace of a session: its first request, once. */
import { afterAll, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { traceIdOf } from '#runtime/trace-steps.ts';
import { ask, startTestGateway } from '../../support/gateway/gateway.ts';
import { startCollector } from '../../support/programs/collector.ts';

const collector = await startCollector();
const gateway = await startTestGateway({ otlpEndpoint: collector.endpoint });

afterAll(async () => {
  await gateway.stop();
  collector.stop();
});

it('the trace of a session has the first request that its host answered, and no other', async () => {
  const id = await gateway.serve((_, response) => response.writeHead(201).end());
  const host = gateway.hostOf(id);
  const causedBy = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await ask(gateway.port, { host, headers: { traceparent: causedBy } });
  await ask(gateway.port, { host });
  const other = await gateway.serve((_, response) => response.end());
  await ask(gateway.port, { host: gateway.hostOf(other) });
  const spansOf = (sessionId: string) =>
    collector.spans.filter(({ traceId }) => traceId === traceIdOf(sessionId));
  // Spans are exported in the order in which they were added.
  await until(() => spansOf(other).length === 2, { timeoutMs: 10_000, what: 'the traces' });
  expect(spansOf(id)).toMatchObject([
    {
      name: 'first request',
      links: [{ traceId: '0af7651916cd43dd8448eb211c80319c' }],
      attributes: expect.arrayContaining([
        { key: 'svc.surface', value: { stringValue: 'api' } },
        { key: 'http.response.status_code', value: { intValue: 201 } },
      ]),
    },
    { name: 'route' },
  ]);
});

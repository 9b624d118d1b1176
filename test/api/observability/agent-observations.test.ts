/** Tests lists of observations: every filter, every group of fields, and pages. */
import { describe, expect, it } from 'vitest';
import { at, event, filterOf, tracedProject } from '../../support/control/traced-project.ts';

const { ask, idsOf, send } = tracedProject();

describe('observations', () => {
  it.each([
    ['', ['o3', 'o2', 'o1']],
    ['type=GENERATION', ['o2']],
    ['name=outer', ['o1']],
    ['userId=bob', ['o3']],
    ['level=WARNING', ['o2']],
    ['level=DEFAULT', ['o1']],
    ['traceId=t1', ['o2', 'o1']],
    ['parentObservationId=o1', ['o2']],
    ['environment=default', ['o3', 'o2', 'o1']],
    [`fromStartTime=${at(500)}&toStartTime=${at(1_000)}`, ['o2']],
    [filterOf({ type: 'number', column: 'totalCost', operator: '>', value: 0.5 }), ['o2']],
    [
      filterOf({
        type: 'stringObject',
        column: 'metadata',
        key: 'short',
        operator: 'contains',
        value: 'y',
      }),
      ['o2'],
    ],
    [
      filterOf({
        type: 'stringOptions',
        column: 'type',
        operator: 'any of',
        value: ['SPAN', 'EVENT'],
      }),
      ['o3', 'o1'],
    ],
    [filterOf({ type: 'string', column: 'input', operator: 'contains', value: '"user"' }), ['o2']],
    [filterOf({ type: 'string', column: 'output', operator: '=', value: 'text' }), ['o2']],
    [
      filterOf({ type: 'arrayOptions', column: 'tags', operator: 'all of', value: ['a'] }),
      ['o2', 'o1'],
    ],
    [
      filterOf({ type: 'stringOptions', column: 'level', operator: 'any of', value: ['ERROR'] }),
      ['o3'],
    ],
    [
      filterOf({ type: 'boolean', column: 'isRootObservation', operator: '=', value: false }),
      ['o2'],
    ],
    ['isRootObservation=true', ['o3', 'o1']],
  ])('are filtered by %s on both routes', async (query, ids) => {
    expect(await idsOf(`/observations?${query}`)).toEqual(ids);
    expect(await idsOf(`/v2/observations?${query}`)).toEqual(ids);
  });

  it('are refused with 400 for an unknown type or level', async () => {
    expect((await ask('GET', '/observations?type=X')).status).toBe(400);
    expect((await ask('GET', '/observations?level=LOW')).status).toBe(400);
  });

  it('are read by id', async () => {
    expect((await ask('GET', '/observations/o2')).body).toMatchObject({ id: 'o2', traceId: 't1' });
    expect((await ask('GET', '/observations/none')).status).toBe(404);
  });

  it('are listed page by page with a cursor, with the requested groups of fields', async () => {
    const seen: string[] = [];
    let cursor: unknown;
    for (let page = 0; page < 5; page += 1) {
      const from: string = cursor === undefined ? '' : `&cursor=${cursor}`;
      const { body } = await ask('GET', `/v2/observations?limit=1&fields=core,io,metadata${from}`);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.meta.cursor;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual(['o3', 'o2', 'o1']);
    const { body } = await ask(
      'GET',
      '/v2/observations?type=GENERATION&fields=io,metadata,usage,trace_context,metrics,model',
    );
    expect(body.data[0]).toMatchObject({
      input: '[{"role":"user"}]',
      output: 'text',
      metadata: { long: 'x'.repeat(200), short: 'y' },
      totalCost: 0.75,
      traceName: 'chat',
      tags: ['a', 'b'],
      latency: 1,
      providedModelName: 'm-1',
      modelId: null,
    });
    const whole = await ask(
      'GET',
      '/v2/observations?type=GENERATION&fields=metadata&expandMetadata=long',
    );
    expect(whole.body.data[0]).toMatchObject({ metadata: { long: 'x'.repeat(500) } });
  });

  it('have long metadata cut at the boundary of a character', async () => {
    const metadata = { text: `${'x'.repeat(199)}${String.fromCodePoint(0x1f600)}` };
    await send(
      event('span-create', { id: 'cut', traceId: 'cut', metadata, startTime: at(-9_000) }),
    );
    const { body } = await ask('GET', '/v2/observations?traceId=cut&fields=metadata');
    expect(body.data).toMatchObject([{ metadata: { text: 'x'.repeat(199) } }]);
    await ask('DELETE', '/traces/cut');
  });

  it.each([
    'cursor=x',
    `cursor=${Buffer.from('[8.6e15,"x"]').toString('base64url')}`,
    `cursor=${Buffer.from('[-62200000000000,"x"]').toString('base64url')}`,
    'limit=1001',
    'parseIoAsJson=true',
  ])('are refused with 400 on /v2 for %s', async (query) => {
    expect((await ask('GET', `/v2/observations?${query}`)).status).toBe(400);
  });
});

describe('observations of a model that was offered tools', () => {
  const tools = [{ type: 'function', function: { name: 'search' } }, { name: 'open' }, 7];
  it.each([
    ['all of', ['search', 'open'], ['with']],
    ['any of', ['open', 'close'], ['with']],
    ['none of', ['search'], ['odd', 'list', 'without']],
  ])('are filtered by the names of the tools: %s %j', async (operator, value, ids) => {
    await send(
      ...[
        ['without', { messages: [] }],
        ['list', [{ tools }]],
        ['odd', { tools: 'search \u0000' }],
        ['with', { messages: ['\u0000'], tools }],
      ].map(([id, input], index) =>
        event('generation-create', {
          ...{ id, input, traceId: 'tools', environment: 'tools', startTime: at(index) },
        }),
      ),
    );
    const filter = filterOf({ type: 'arrayOptions', column: 'toolNames', operator, value });
    expect(await idsOf(`/observations?environment=tools&${filter}`)).toEqual(ids);
  });

  it('are refused with 400 for an isRootObservation that is neither true nor false', async () => {
    expect((await ask('GET', '/v2/observations?isRootObservation=maybe')).status).toBe(400);
  });
});

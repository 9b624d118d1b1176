/** Tests trace sessions with their traces, and answers with many or very large traces and observations. */
import { describe, expect, it } from 'vitest';
import { at, event, tracedProject } from '../../support/control/traced-project.ts';

const { ask, idsOf, send } = tracedProject();

describe('trace sessions', () => {
  it('are listed, and are shown with their traces, and with observations on request', async () => {
    expect(await idsOf('/sessions')).toEqual(['s1']);
    expect(await idsOf('/sessions?environment=prod')).toEqual(['s1']);
    expect(await idsOf('/sessions?environment=other')).toEqual([]);
    expect(await idsOf(`/sessions?toTimestamp=${at(0)}`)).toEqual([]);
    const { body } = await ask('GET', '/sessions/s1');
    expect(body.traces).toMatchObject([{ id: 't1' }, { id: 't3' }]);
    expect(body.traces?.[0]).not.toHaveProperty('observations');
    const whole = await ask('GET', '/sessions/s1?includeIO=true');
    expect(whole.body.traces).toMatchObject([
      { id: 't1', observations: [{ id: 'o1' }, { id: 'o2', input: [{ role: 'user' }] }] },
      { id: 't3', observations: [] },
    ]);
    expect((await ask('GET', '/sessions/none')).status).toBe(404);
  });
});

describe('a page of traces', () => {
  it('leaves out fields that exceed the size budget of the page, and names them', async () => {
    const input = 'x'.repeat(1_500_000);
    for (let i = 0; i < 4; i += 1) {
      await send(
        event('trace-create', { id: `heavy-${i}`, name: 'heavy', input, timestamp: at(i) }),
      );
    }
    const { body } = await ask('GET', '/traces?name=heavy&orderBy=timestamp.asc');
    expect(body.data.map((trace) => (trace as { omitted?: unknown }).omitted)).toEqual([
      undefined,
      undefined,
      ['input', 'output', 'metadata'],
      ['input', 'output', 'metadata'],
    ]);
    expect((await ask('GET', '/traces/heavy-3')).body.input).toBe(input);
  });
});

describe('a field that was never reported', () => {
  type Written = { createdAt: string; updatedAt: string };
  const usual = { environment: 'default', public: false, tags: [] };

  it('has its default value, and updatedAt differs from createdAt only after a later write', async () => {
    const trace = { id: 'bare', sessionId: 'bare-session', timestamp: at(0) };
    const span = { id: 'bare-span', traceId: 'bare', startTime: at(0) };
    await send(event('trace-create', trace), event('span-create', span));
    const shownOf = async (): Promise<{ traces: Written[]; observations: Written[] }> => {
      const whole = (await ask('GET', '/traces/bare')).body;
      const session = (await ask('GET', '/sessions/bare-session')).body;
      const withIo = (await ask('GET', '/sessions/bare-session?includeIO=true')).body;
      const listed = (await ask('GET', '/observations?traceId=bare')).body;
      const parts = (await ask('GET', '/v2/observations?traceId=bare&fields=basic,time')).body;
      const traces = [whole, session.traces?.[0], withIo.traces?.[0]] as never[];
      const observations = [whole.observations?.[0], listed.data[0], parts.data[0]] as never[];
      for (const one of traces) expect(one).toMatchObject(usual);
      for (const one of observations) {
        expect(one).toMatchObject({ environment: 'default', level: 'DEFAULT' });
      }
      return { traces, observations };
    };
    const first = await shownOf();
    for (const { createdAt, updatedAt } of [...first.traces, ...first.observations]) {
      expect(updatedAt).toBe(createdAt);
    }
    await send(
      event('trace-create', { ...trace, name: 'named' }, 1),
      event('span-update', { ...span, level: 'DEFAULT', name: 'named' }, 1),
    );
    const second = await shownOf();
    for (const { createdAt, updatedAt } of [...second.traces, ...second.observations]) {
      expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(createdAt));
    }
    await ask('DELETE', '/traces/bare');
  });
});

describe('an answer with thousands of entries', () => {
  const ids = Array.from({ length: 3_000 }, (_, i) => `many-${i}`);
  const text = '\u{1f600}"\\é'.repeat(20);
  const pieces = [ids.slice(0, 1_500), ids.slice(1_500)];

  it('has all observations of a trace in order, with their total cost and latency', async () => {
    for (const some of pieces) {
      const startTime = (id: string) => at(Number(id.slice(5)));
      const body = { traceId: 'many', output: text, costDetails: { total: 0.5 } };
      await send(
        ...some.map((id) => event('generation-create', { ...body, id, startTime: startTime(id) })),
      );
    }
    await send(event('score-create', { traceId: 'many', name: 'n', value: 1 }));
    const { body } = await ask('GET', '/traces/many');
    expect(body.observations).toMatchObject(ids.map((id) => ({ id, output: text })));
    expect(body).toMatchObject({ totalCost: 1_500, latency: 2.999, scores: [{ name: 'n' }] });
    await ask('DELETE', '/traces/many');
  });

  it('has all traces of a trace session in order', async () => {
    const sessionId = 'many-session';
    for (const some of pieces) {
      const timestamp = (id: string) => at(Number(id.slice(5)));
      await send(
        ...some.map((id) =>
          event('trace-create', { id, sessionId, name: text, timestamp: timestamp(id) }),
        ),
      );
    }
    const { body } = await ask('GET', `/sessions/${sessionId}`);
    expect(body.traces).toMatchObject(ids.map((id) => ({ id, name: text })));
  });
});

/** Sessions with their traces, and what pages and answers hold of traces and observations however much there is. */
import { describe, expect, it } from 'vitest';
import { at, event, toldProject } from '../support/told-project.ts';

const { ask, idsOf, send } = toldProject();

describe('sessions', () => {
  it('are listed, and shown with their traces, with observations when asked', async () => {
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

describe('a page', () => {
  it('leaves what has no room out, and names it', async () => {
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

describe('what nobody said', () => {
  type Written = { createdAt: string; updatedAt: string };
  const usual = { environment: 'default', public: false, tags: [] };

  it('is shown as what is usual, and a later time of writing only where there was one', async () => {
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

describe('an answer of many', () => {
  const ids = Array.from({ length: 3_000 }, (_, i) => `many-${i}`);
  const text = '\u{1f600}"\\é'.repeat(20);
  const pieces = [ids.slice(0, 1_500), ids.slice(1_500)];

  it('has all observations of a trace in their order, and what is counted of them', async () => {
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

  it('has all traces of a session in their order', async () => {
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

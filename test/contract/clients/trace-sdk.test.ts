/**
 * Tests the unmodified Langfuse SDK for traces on a control plane: it traces, nests, generates, scores and flushes as
 * its documentation shows, and reads back its data. The SDK itself sends events out of order.
 */
import { Langfuse } from 'langfuse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { checkerOf, downFor, type Fate, startBetween } from './between.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

const address = (): string => control.running.addresses.public[0] ?? '';

const client = (baseUrl: string = address(), fetchRetryDelay = 300): Langfuse =>
  new Langfuse({
    baseUrl,
    publicKey: control.publicKey,
    secretKey: control.secretKey,
    flushAt: 1_000,
    fetchRetryDelay,
  });

const startTime = new Date('2026-03-01T10:00:00.000Z');
const later = (ms: number): Date => new Date(startTime.getTime() + ms);

/** Traces an agent; returns the id of the trace. */
const trace = (langfuse: Langfuse): string => {
  const made = langfuse.trace({
    name: 'chat',
    userId: 'user-1',
    sessionId: 'session-1',
    input: { question: 'How many?' },
    metadata: { plan: 'free', nested: { a: 1 } },
    tags: ['first'],
    release: 'r1',
  });
  const span = made.span({ name: 'retrieve', startTime, input: { k: 3 } });
  const generation = span.generation({
    name: 'answer',
    startTime: later(100),
    model: 'model-1',
    modelParameters: { temperature: 0.5 },
    input: [{ role: 'user', content: 'How many?' }],
  });
  generation.update({ completionStartTime: later(300) });
  generation.update({
    output: { role: 'assistant', content: 'Seven.' },
    endTime: later(600),
    usage: { promptTokens: 12, completionTokens: 3, totalTokens: 15 },
  });
  span.event({ name: 'cache miss', level: 'WARNING', startTime: later(50) });
  span.update({ endTime: later(700), metadata: { hits: 0 } });
  made.update({ output: 'Seven.', tags: ['second'], metadata: { nested: { b: 2 } } });
  made.score({ name: 'quality', value: 0.8, comment: 'fine' });
  generation.score({ name: 'tone', value: 'friendly' });
  return made.id;
};

const expectWhole = async (langfuse: Langfuse, id: string): Promise<void> => {
  const { data } = await langfuse.fetchTrace(id);
  expect(data).toMatchObject({
    name: 'chat',
    userId: 'user-1',
    sessionId: 'session-1',
    input: { question: 'How many?' },
    output: 'Seven.',
    metadata: { plan: 'free', nested: { a: 1, b: 2 } },
    tags: ['first', 'second'],
    release: 'r1',
  });
  const byName = new Map(data.observations.map((one) => [one.name, one]));
  expect([...byName.keys()].sort()).toEqual(['answer', 'cache miss', 'retrieve']);
  const span = byName.get('retrieve');
  expect(span).toMatchObject({ type: 'SPAN', metadata: { hits: 0 }, latency: 0.7 });
  expect(byName.get('cache miss')).toMatchObject({
    type: 'EVENT',
    level: 'WARNING',
    parentObservationId: span?.id,
  });
  expect(byName.get('answer')).toMatchObject({
    type: 'GENERATION',
    parentObservationId: span?.id,
    model: 'model-1',
    modelParameters: { temperature: 0.5 },
    output: { role: 'assistant', content: 'Seven.' },
    usage: { input: 12, output: 3, total: 15, unit: 'TOKENS' },
    startTime: later(100).toISOString(),
    completionStartTime: later(300).toISOString(),
    latency: 0.5,
    timeToFirstToken: 0.2,
  });
  const scores = data.scores.map(({ name, observationId }) => [name, observationId ?? null]);
  expect(scores.sort()).toEqual([
    ['quality', null],
    ['tone', byName.get('answer')?.id],
  ]);
};

describe('the SDK', () => {
  it('sends a trace and reads it back at once', async () => {
    const langfuse = client();
    const id = trace(langfuse);
    await langfuse.flushAsync();
    await expectWhole(langfuse, id);
    const listed = await langfuse.fetchTraces({ tags: ['first', 'second'], userId: 'user-1' });
    expect(listed.data.map((one) => one.id)).toEqual([id]);
    const observations = await langfuse.fetchObservations({ traceId: id, type: 'GENERATION' });
    expect(observations.data).toHaveLength(1);
    const one = await langfuse.fetchObservation(observations.data[0]?.id ?? '');
    expect(one.data.name).toBe('answer');
    const sessions = await langfuse.fetchSessions();
    expect(sessions.data.map((session) => session.id)).toEqual(['session-1']);
    await langfuse.shutdownAsync();
  });

  const troubles: Record<string, () => (before: number) => Fate> = {
    'it is refused for a moment': () => (before) => (before < 2 ? 503 : 'passed'),
    'the service is down for three seconds': () => downFor(3_000),
    'all is well': () => () => 'passed',
  };
  for (const [trouble, fateOf] of Object.entries(troubles)) {
    it(`loses nothing and duplicates nothing when ${trouble}, and its requests match the document`, async () => {
      const document = await (await fetch(`${address()}/api/public/openapi.json`)).json();
      const check = checkerOf(document as Parameters<typeof checkerOf>[0]);
      const between = await startBetween(address(), fateOf());
      const langfuse = client(between.url, 1_000);
      const id = trace(langfuse);
      await langfuse.flushAsync();
      await expectWhole(langfuse, id);
      await langfuse.shutdownAsync();
      expect(between.noted.flatMap(check)).toEqual([]);
      await between.stop();
    });
  }

  it('repeats a batch for one invalid event in it, and the valid events are stored once', async () => {
    const langfuse = client();
    langfuse.on('error', () => undefined);
    const id = trace(langfuse);
    langfuse.score({ traceId: id, name: 'bad', value: 'text', dataType: 'NUMERIC' });
    await langfuse.flushAsync();
    await expectWhole(langfuse, id);
    await langfuse.shutdownAsync();
  });
});

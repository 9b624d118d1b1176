/**
 * Tests batches of events: each event is accepted or refused on its own, stored once, and readable once the request is
 * answered.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { AppError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import { getTrace, ingest, ingestSpans } from '#wire/public-api/operations.ts';
import type { TestControl } from '../../support/control/control.ts';
import { startOwnControl } from '../../support/control/own-control.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;

beforeAll(async () => {
  control = await shareControl();
});

let made = 0;
const at = (ms: number): string => new Date(Date.UTC(2026, 2, 1) + ms).toISOString();

/** Builds an event with a unique id and a timestamp at this millisecond. */
const event = (type: string, body: object, ms = 0) => {
  made += 1;
  return { id: `event-${made}`, type, timestamp: at(ms), body };
};

const send = async (...batch: unknown[]) => {
  const { status, body } = await control.send(ingest, { body: { batch } });
  expect(status).toBe(207);
  return body;
};

const tracesOf = (id: string) =>
  control.sql<Record<string, unknown>>('select * from traces where id = $1', [id]);
const observationsOf = (id: string) =>
  control.sql<Record<string, unknown>>('select * from observations where id = $1', [id]);

describe('a batch of events', () => {
  it('has each event accepted or refused on its own', async () => {
    const answer = await send(
      event('trace-create', { id: 'mixed', name: 'm' }),
      { id: 'bad', type: 'span-create', timestamp: at(0), body: { level: 'HIGH' } },
      7,
      event('span-create', { id: 'mixed-1', traceId: 'mixed' }),
    );
    expect(answer.successes.map(({ status }) => status)).toEqual([201, 201]);
    expect(answer.errors).toEqual([
      {
        id: 'bad',
        status: 400,
        message: 'Invalid request data',
        error: expect.stringMatching(/^body.level must be one of/),
      },
      { id: 'unknown', status: 400, message: 'Invalid request data', error: expect.any(String) },
    ]);
    expect(await tracesOf('mixed')).toMatchObject([{ name: 'm' }]);
    expect(await observationsOf('mixed-1')).toHaveLength(1);
  });

  it.each([
    ['nested too deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['with a name that objects inherit by', '{"a": {"__proto__": {"b": 1}}}'],
    ['with such a name that is escaped', '{"constructor": {"\\u0070rototype": 1}}'],
  ])('has only the bad event refused: %s', async (what, input) => {
    const id = `beside ${what}`;
    const good = JSON.stringify(event('trace-create', { id, input: { constructor: 'x' } }));
    const bad = `{"id": "bad", "type": "trace-create", "timestamp": "${at(0)}", "body": {"id": "bad", "input": ${input}}}`;
    const { status, body } = await control.raw({
      method: 'POST',
      path: '/api/public/ingestion',
      headers: {
        'content-type': 'application/json',
        authorization: basicAuthorization(control.publicKey, control.secretKey),
      },
      body: `{"batch": [${bad}, ${good}]}`,
    });
    expect([status, body]).toMatchObject([
      207,
      { successes: [{ status: 201 }], errors: [{ id: 'bad', status: 400 }] },
    ]);
    expect(await tracesOf(id)).toHaveLength(1);
    expect(await tracesOf('bad')).toEqual([]);
  });

  it('may be empty', async () => {
    expect(await send()).toEqual({ successes: [], errors: [] });
  });

  it('is refused as a whole if it is malformed', async () => {
    for (const body of ['{}', '[]', '{"batch": {}}', '7', '{"batch": [']) {
      const answer = await control.raw({
        method: 'POST',
        path: '/api/public/ingestion',
        headers: {
          'content-type': 'application/json',
          authorization: basicAuthorization(control.publicKey, control.secretKey),
        },
        body,
      });
      expect([body, answer.status]).toEqual([body, 400]);
    }
  });

  it('is stored completely if it is large', async () => {
    const input = 'x'.repeat(2_000);
    const spans = Array.from({ length: 300 }, (_, i) =>
      event('span-create', { id: `large-${i}`, traceId: 'large', input, startTime: at(i) }),
    );
    const answer = await send(...spans);
    expect(answer.successes).toHaveLength(300);
    const [row] = await control.sql<{ count: number }>(
      `select count(*)::int from observations where trace_id = 'large' and input = $1`,
      [JSON.stringify(input)],
    );
    expect(row?.count).toBe(300);
  });

  it('that is sent with the public key has only its scores accepted', async () => {
    const { body } = await control.read(ingest, {
      body: {
        batch: [
          event('trace-create', { id: 'by-public' }),
          event('score-create', { id: 'sc-public', traceId: 'by-public', name: 'n', value: 1 }),
          event('sdk-log', { log: 'x' }),
        ],
      },
    });
    expect([body.successes.length, body.errors.map(({ status }) => status)]).toEqual([1, [401]]);
    expect(await tracesOf('by-public')).toEqual([]);
    expect(await control.sql(`select value from scores where id = 'sc-public'`)).toEqual([
      { value: 1 },
    ]);
  });
});

describe('an ingestion event', () => {
  it('that is repeated changes nothing, and is answered as accepted', async () => {
    const create = event('trace-create', { id: 'again', name: 'first' });
    await send(create);
    const changed = { ...create, body: { id: 'again', name: 'second' } };
    const { successes } = await send(changed, changed);
    expect(successes).toHaveLength(2);
    expect(await tracesOf('again')).toMatchObject([{ name: 'first' }]);
  });

  it('is stored once if concurrent batches contain it', async () => {
    const creates = Array.from({ length: 40 }, (_, i) =>
      event('span-create', { id: `once-${i}`, traceId: `once-${i % 3}`, name: 'one' }),
    );
    const other = creates.map((create) => ({ ...create, body: { ...create.body, name: 'two' } }));
    await send(...creates.slice(0, 20));
    await Promise.all([send(...other), send(...other.toReversed()), send(...other.slice(10, 30))]);
    const names = await control.sql(
      `select name, count(*)::int as count from observations where trace_id like 'once-%' group by 1 order by 1`,
    );
    expect(names).toEqual([
      { name: 'one', count: 20 },
      { name: 'two', count: 20 },
    ]);
  });

  it('is still recognized in the week after it was stored', async () => {
    const create = event('trace-create', { id: 'weekly', name: 'first' });
    await send(create);
    const [{ week } = { week: 0 }] = await control.sql<{ week: number }>(
      'select max(week) as week from taken_events',
    );
    await control.sql(
      `create table taken_events_w${week - 1} partition of taken_events for values from (${week - 1}) to (${week})`,
    );
    await control.sql('update taken_events set week = week - 1');
    await send(
      { ...create, body: { id: 'weekly', name: 'second' } },
      event('trace-create', { id: 'weekly', userId: 'u' }, 1),
    );
    expect(await tracesOf('weekly')).toMatchObject([{ name: 'first', user_id: 'u' }]);
  });

  it('does not restore what was deleted', async () => {
    const create = event('span-create', { id: 'gone-1', traceId: 'gone' });
    await send(create);
    await control.sql(`delete from observations where trace_id = 'gone'`);
    await control.sql(`delete from traces where id = 'gone'`);
    await send(create);
    expect([await tracesOf('gone'), await observationsOf('gone-1')]).toEqual([[], []]);
  });

  it('for an update may come before the create event, in another batch', async () => {
    await send(
      event('generation-update', {
        id: 'late-1',
        traceId: 'late',
        output: 'done',
        endTime: at(90),
        usage: { input: 1, output: 2 },
      }),
    );
    await send(
      event(
        'generation-create',
        {
          id: 'late-1',
          traceId: 'late',
          name: 'g',
          startTime: at(10),
          output: 'begun',
        },
        500,
      ),
    );
    expect(await observationsOf('late-1')).toMatchObject([
      {
        name: 'g',
        type: 'GENERATION',
        output: '"done"',
        began_at: new Date(at(10)),
        end_time: new Date(at(90)),
        total_usage: '3',
      },
    ]);
    expect(await tracesOf('late')).toMatchObject([{ began_at: new Date(at(0)), name: null }]);
  });

  it('for an observation creates its trace, and later reports about the trace are merged', async () => {
    await send(event('span-create', { id: 'child', traceId: 'parent', startTime: at(700) }, 700));
    await send(event('trace-create', { id: 'parent', name: 'p', timestamp: at(600), tags: ['b'] }));
    await send(
      event('trace-create', { id: 'parent', tags: ['a'], metadata: { x: { y: 1 } }, userId: 'u' }),
      event('trace-create', { id: 'parent', metadata: { x: { z: 2 } }, sessionId: 's-1' }),
    );
    const [trace] = await tracesOf('parent');
    expect(trace).toMatchObject({
      name: 'p',
      tags: ['a', 'b'],
      user_id: 'u',
      session_id: 's-1',
      began_at: new Date(at(600)),
    });
    expect(JSON.parse(String(trace?.metadata))).toEqual({ x: { y: 1, z: 2 } });
    expect(await control.sql(`select id, environment from trace_sessions`)).toEqual([
      { id: 's-1', environment: 'default' },
    ]);
  });

  it('without a trace id joins the trace of its observation, and has a trace of its own until that trace is known', async () => {
    await send(event('span-update', { id: 'stray', output: 1 }));
    expect(await tracesOf('stray')).toMatchObject([{ is_stray: true }]);
    await send(event('span-update', { id: 'stray', level: 'WARNING' }, 2));
    expect(await tracesOf('stray')).toMatchObject([{ is_stray: true }]);
    await send(event('span-create', { id: 'stray', traceId: 'home', name: 's' }));
    await send(event('span-update', { id: 'stray', statusMessage: 'known' }, 5));
    expect(await tracesOf('stray')).toEqual([]);
    expect(await observationsOf('stray')).toMatchObject([
      { trace_id: 'home', name: 's', output: '1', level: 'WARNING', status_message: 'known' },
    ]);
  });

  it('may have ids of 800 characters, and texts of any characters', async () => {
    const id = '\u{1f600}'.repeat(400);
    const session = `${'s'.repeat(900)}"\\{},`;
    const { errors } = await send(
      event('trace-create', {
        id,
        name: 'a\0b',
        sessionId: session,
        tags: ['"', '\\', '{,}', 'NULL'],
      }),
      event('span-create', { id: `${id.slice(2)}!`, traceId: id, input: 'a\0\ud800' }),
    );
    expect(errors).toEqual([]);
    expect(await tracesOf(id)).toMatchObject([
      { name: 'a\ufffdb', session_id: session, tags: ['"', 'NULL', '\\', '{,}'] },
    ]);
  });
});

describe('concurrent batches', () => {
  it('with the same events store each object once and complete', async () => {
    const spans = Array.from({ length: 20 }, (_, i) => [
      event('span-create', { id: `race-${i}`, traceId: 'race', name: `n${i}`, startTime: at(i) }),
      event('span-update', { id: `race-${i}`, traceId: 'race', output: i, metadata: { i } }, 5),
      event('trace-create', { id: 'race', metadata: { [`k${i}`]: i }, tags: [`t${i}`] }, i),
    ]);
    const turns = Array.from({ length: 12 }, (_, turn) =>
      spans.flat().filter((_one, index) => (index + turn) % 3 !== 0),
    );
    await Promise.all(turns.map((batch) => send(...batch.toReversed())));
    const rows = await control.sql<{ name: string; output: string }>(
      `select name, output from observations where trace_id = 'race' order by began_at`,
    );
    expect(rows).toEqual(spans.map((_, i) => ({ name: `n${i}`, output: String(i) })));
    const [trace] = await tracesOf('race');
    expect(trace?.tags).toHaveLength(20);
    expect(Object.keys(JSON.parse(String(trace?.metadata)))).toHaveLength(20);
  });
});

describe('a project with a monthly limit on events', () => {
  it('is refused more events in the month, and can still be read', async () => {
    const bounded = await startOwnControl();
    try {
      const traced = (id: string) => ({
        batch: [event('trace-create', { id }), event('span-create', { traceId: id })],
      });
      const { status } = await bounded.send(ingest, { body: traced('within') });
      expect(status).toBe(207);
      await bounded.sql('update projects set event_limit = 2');
      const sent = () => bounded.send(ingest, { body: traced('beyond') });
      // The control plane caches the limit of a project for some seconds.
      await until(
        () =>
          sent().then(
            () => false,
            (error: AppError) =>
              error.code === 'forbidden' && /limit of 2 events/.test(error.message),
          ),
        { timeoutMs: 30_000, what: 'events to be refused' },
      );
      const spans = bounded.send(ingestSpans, { body: { resourceSpans: [] } as never });
      await expect(spans).rejects.toMatchObject({ code: 'forbidden' });
      const { body } = await bounded.send(getTrace, { params: { traceId: 'within' } });
      expect(body.id).toBe('within');
    } finally {
      await bounded.stop();
    }
  });
});

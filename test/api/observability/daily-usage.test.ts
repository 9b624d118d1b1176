/**
 * Tests the daily usage sums: after new, repeated and concurrent events and after deletions they equal the sums of the
 * stored rows.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteTrace, deleteTraces, ingest } from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

// A control plane of its own, because the statements read the rows of every project.
let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});
afterAll(() => control.stop());

const dayMs = 86_400_000;
const at = (ms: number): string => new Date(Date.UTC(2026, 2, 1) + ms).toISOString();

let made = 0;
const event = (type: string, body: object, ms = 0) => {
  made += 1;
  return { id: `event-${made}`, type, timestamp: at(ms), body };
};

const send = async (...batch: object[]): Promise<void> => {
  const { status, body } = await control.send(ingest, { body: { batch } });
  expect([status, body.errors]).toEqual([207, []]);
};

const sums = `sum(traces)::int as traces, sum(traces_of_model)::int as "ofModel",
  sum(observations)::int as observations, sum(input_usage)::int as input, sum(output_usage)::int as output,
  sum(total_usage)::int as total, sum(total_cost)::bigint as cost`;

const kept = `select day::text, trace_name as name, environment, model, ${sums} from daily_usage
  where environment is not null group by 1, 2, 3, 4 having sum(traces) <> 0 or sum(observations) <> 0
  order by 1, 2, 3, 4`;

/** SQL that computes the daily usage sums from the stored rows. */
const counted = `with named as (
    select t.*, coalesce(environment, 'default') as env from traces t
  ), rows as (
    select (began_at at time zone 'utc')::date as day, name as trace_name, env as environment, null as model,
           1 as traces, 0 as traces_of_model, 0 as observations, 0 as input_usage, 0 as output_usage,
           0 as total_usage, 0 as total_cost
      from named
    union all
    select (o.began_at at time zone 'utc')::date, t.name, t.env, o.model, 0,
           (row_number() over (partition by o.trace_key, (o.began_at at time zone 'utc')::date, o.model) = 1)::int,
           1, coalesce(input_usage, 0), coalesce(output_usage, 0), coalesce(total_usage, 0),
           round(coalesce(total_cost, 0)::numeric * 1000000000000)
      from observations o join named t on t.key = o.trace_key
  ) select day::text, trace_name as name, environment, model, ${sums} from rows group by 1, 2, 3, 4
     order by 1, 2, 3, 4`;

const expectRight = async (): Promise<unknown[]> => {
  const rows = await control.sql(kept);
  expect(rows).toEqual(await control.sql(counted));
  return rows;
};

const generation = (trace: string, id: string, model: string, rest: object = {}) => ({
  id,
  traceId: trace,
  model,
  usage: { input: 10, output: 5, unit: 'TOKENS' },
  costDetails: { input: 0.1, output: 0.2 },
  ...rest,
});

/** Offset for `at` that gives a time in the future. */
const later = (): number => Date.now() + 60_000 - Date.UTC(2026, 2, 1);

describe('daily usage sums', () => {
  it('equal those of traces and observations, by name, environment and model', async () => {
    await send(
      event('trace-create', { id: 'a', name: 'run', environment: 'prod' }),
      event('generation-create', generation('a', 'a1', 'm1')),
      event('generation-create', generation('a', 'a2', 'm1')),
      event('generation-create', generation('a', 'a3', 'm2', { startTime: at(dayMs) })),
      event('span-create', { id: 'a4', traceId: 'a' }),
    );
    const common = { name: 'run', environment: 'prod' };
    const ofOne = { traces: 0, ofModel: 1, observations: 1, input: 10, output: 5, total: 15 };
    expect(await expectRight()).toEqual([
      {
        ...common,
        day: '2026-03-01',
        model: 'm1',
        ...ofOne,
        observations: 2,
        input: 20,
        output: 10,
        total: 30,
        cost: '600000000000',
      },
      {
        ...common,
        day: '2026-03-01',
        model: null,
        ...ofOne,
        traces: 1,
        input: 0,
        output: 0,
        total: 0,
        cost: '0',
      },
      { ...common, day: '2026-03-02', model: 'm2', ...ofOne, cost: '300000000000' },
    ]);
  });

  it('stay the same when events are sent again, and follow events that change a trace or observation', async () => {
    const again = [
      event('trace-create', { id: 'b', name: 'first', timestamp: at(0) }),
      event('generation-create', generation('b', 'b1', 'm1')),
    ];
    await send(...again);
    await send(...again);
    await expectRight();
    await send(
      event('generation-update', { id: 'b1', traceId: 'b', model: 'm2', usage: { input: 99 } }, 5),
    );
    await expectRight();
    await send(event('span-create', { id: 'b2', traceId: 'b', startTime: at(-dayMs) }));
    await expectRight();
    await send(event('trace-create', { id: 'b', name: 'second', timestamp: at(-dayMs) }, 9));
    const rows = await expectRight();
    expect(rows).not.toContainEqual(expect.objectContaining({ name: 'first' }));
  });

  it('include observations that come before their traces, and those that name no trace', async () => {
    await send(event('generation-create', generation('c', 'c1', 'm1')));
    await send(event('generation-create', { id: 'c2', model: 'm3', usage: { input: 3 } }));
    await expectRight();
    await send(event('trace-create', { id: 'c', name: 'late' }));
    await send(event('generation-update', { id: 'c2', traceId: 'c', usage: { input: 4 } }, 5));
    await expectRight();
  });

  it('are correct after concurrent writers and deletions', async () => {
    const names = [0, 1, 2, 3, 4].map((number) => `many-${number}`);
    const write = async (writer: number): Promise<void> => {
      for (let round = 0; round < 8; round += 1) {
        const trace = names[(round + writer) % names.length] ?? '';
        // Newer than every deletion, so that the event creates the deleted trace again.
        const ms = later() + round * 10 + writer;
        await send(
          event('trace-create', { id: trace, name: `name-${writer}` }, ms),
          event('generation-create', generation(trace, `${trace}-${round}`, `m${writer}`), ms),
          event('generation-create', generation(trace, `${trace}-${writer}-${round}`, 'm1'), ms),
        );
      }
    };
    const remove = async (): Promise<void> => {
      for (let round = 0; round < 8; round += 1) {
        await control.send(deleteTraces, { body: { traceIds: names } });
      }
    };
    await Promise.all([write(0), write(1), write(2), write(3), remove()]);
    expect(await expectRight()).not.toEqual([]);
  });

  it('return to zero when everything is deleted', async () => {
    const ids = await control.sql<{ id: string }>('select id from traces');
    await control.send(deleteTraces, { body: { traceIds: ids.map(({ id }) => id) } });
    expect(await expectRight()).toEqual([]);
  });
});

describe('a deleted trace', () => {
  it('is not restored by events older than the deletion, and is restored by newer ones', async () => {
    const old = () => [
      event('trace-create', { id: 'gone', name: 'old' }),
      event('span-create', { id: 'gone-1', traceId: 'gone' }),
    ];
    await send(...old());
    await control.send(deleteTrace, { params: { traceId: 'gone' } });
    await send(...old());
    expect(await control.sql(`select from traces where id = 'gone'`)).toEqual([]);
    expect(await control.sql(`select from observations where trace_id = 'gone'`)).toEqual([]);
    await send(event('span-create', { id: 'gone-2', traceId: 'gone' }, later()), ...old());
    const observations = `select id from observations where trace_id = 'gone'`;
    expect(await control.sql(observations)).toEqual([{ id: 'gone-2' }]);
    await expectRight();
  });
});

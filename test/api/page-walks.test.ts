/**
 * Walks through lists by cursor while rows come and go: whatever was there when a walk began and is there when it ends
 * is seen, and nothing is seen twice. One line a list; the moves between pages are drawn at random.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../support/asker.ts';
import { type OwnControl, startNotesControl } from '../support/own-control.ts';

let control: OwnControl;

type Body = { id: string; data: { id: string }[]; meta: { nextCursor?: string; cursor?: string } };

const ask = async (method: string, path: string, body?: object): Promise<Body> => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const parts = { as, ...(body === undefined ? {} : { body }) };
  const answer = await createAsker(control)(method, path, parts);
  if (answer.status > 207) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as Body;
};

/** A list, and how something comes into it and goes from it. */
type Listed = {
  /** Makes what the list is in; answers the list's address. */
  open(name: string): Promise<string>;
  /** Puts something in, by a number that none had before; answers its id. */
  add(list: string, number: number): Promise<string>;
  /** Takes something out; absent: nothing ever goes. */
  remove?(list: string, id: string): Promise<unknown>;
};

const query = (path: string, name: string): string =>
  new URL(path, 'http://x').searchParams.get(name) ?? '';

const makeDataset = (name: string) => ask('POST', '/v2/datasets', { name });

const makeQueue = async (name: string): Promise<Body> => {
  const config = await ask('POST', '/score-configs', { name: 'walked', dataType: 'BOOLEAN' });
  return ask('POST', '/annotation-queues', { name, scoreConfigIds: [config.id] });
};

const lists: Record<string, Listed> = {
  '/v2/datasets': {
    open: async () => '/v2/datasets',
    add: async (_, number) => (await makeDataset(`walked ${number}`)).id,
  },
  '/dataset-items': {
    async open(name) {
      await makeDataset(name);
      return `/dataset-items?datasetName=${name}`;
    },
    add: async (list, number) =>
      (
        await ask('POST', '/dataset-items', {
          datasetName: query(list, 'datasetName'),
          input: number,
        })
      ).id,
    remove: (_, id) => ask('DELETE', `/dataset-items/${id}`),
  },
  '/datasets/{name}/runs': {
    async open(name) {
      await makeDataset(name);
      await ask('POST', '/dataset-items', { datasetName: name, id: `of ${name}` });
      return `/datasets/${name}/runs`;
    },
    async add(list, number) {
      const name = list.split('/')[2] ?? '';
      const link = { runName: `r${number}`, datasetItemId: `of ${name}`, traceId: 't' };
      await ask('POST', '/dataset-run-items', link);
      return (await ask('GET', `${list}/r${number}`)).id;
    },
    async remove(list, id) {
      const runs = await ask('GET', `${list}?limit=100`);
      const run = runs.data.find((one) => one.id === id) as { name?: string } | undefined;
      return ask('DELETE', `${list}/${run?.name}`);
    },
  },
  '/dataset-run-items': {
    async open(name) {
      const { id } = await makeDataset(name);
      const item = { datasetName: name, id: `of ${name}` };
      await ask('POST', '/dataset-items', item);
      const first = { runName: name, datasetItemId: item.id, traceId: 'first' };
      await ask('POST', '/dataset-run-items', first);
      return `/dataset-run-items?datasetId=${id}&runName=${name}`;
    },
    async add(list, number) {
      const runName = query(list, 'runName');
      const link = { runName, datasetItemId: `of ${runName}`, traceId: `t${number}` };
      return (await ask('POST', '/dataset-run-items', link)).id;
    },
  },
  '/models': {
    open: async () => '/models',
    add: async (_, number) =>
      (await ask('POST', '/models', { modelName: `walked ${number}`, matchPattern: 'x' })).id,
    remove: (list, id) => ask('DELETE', `${list}/${id}`),
  },
  '/user-events': {
    open: async (name) => `/user-events?userId=${name}`,
    add: async (list, number) =>
      (await ask('POST', '/user-events', { userId: query(list, 'userId'), event: `e${number}` }))
        .id,
  },
  '/v2/observations': {
    open: async (name) => `/v2/observations?name=${name}`,
    async add(list, number) {
      const id = `o${number}`;
      // Not only at the beginning of the list: what comes later may have begun before.
      const startTime = new Date(Date.UTC(2026, 0, 1) + ((number * 7_919) % 1_000) * 1_000);
      const body = { id, traceId: `t${number}`, name: query(list, 'name'), startTime };
      const event = { id: `e${number}`, type: 'span-create', timestamp: startTime, body };
      await ask('POST', '/ingestion', { batch: [event] });
      return id;
    },
    remove: (_, id) => ask('DELETE', `/traces/t${id.slice(1)}`),
  },
  '/v3/scores': {
    open: async (name) => `/v3/scores?name=${name}`,
    add: async (list, number) =>
      (
        await ask('POST', '/scores', {
          id: `s${number}`,
          traceId: `scored ${number}`,
          name: query(list, 'name'),
          value: number,
        })
      ).id,
    remove: (_, id) => ask('DELETE', `/scores/${id}`),
  },
  '/comments': {
    open: async (name) => `/comments?objectType=TRACE&objectId=${name}`,
    add: async (list, number) => {
      const on = { objectType: 'TRACE', objectId: query(list, 'objectId') };
      return (await ask('POST', '/comments', { ...on, content: `c${number}` })).id;
    },
  },
  '/task-sets': {
    open: async () => '/task-sets',
    async add(_, number) {
      const spec = { instruction: 'Do it.' };
      const { id } = await ask('POST', '/world-tasks', { world: 'notes', spec });
      return (await ask('POST', '/task-sets', { name: `walked ${number}`, taskIds: [id] })).id;
    },
  },
  '/annotation-queues': {
    open: async () => '/annotation-queues',
    add: async (_, number) => (await makeQueue(`walked ${number}`)).id,
  },
  '/annotation-queues/{queueId}/items': {
    open: async (name) => `/annotation-queues/${(await makeQueue(name)).id}/items`,
    add: async (list, number) =>
      (await ask('POST', list, { objectId: `o${number}`, objectType: 'TRACE' })).id,
    remove: (list, id) => ask('DELETE', `${list}/${id}`),
  },
};

/** What happens between two pages: so many come, and of those that there are one goes, by its place. */
const moves = fc.array(
  fc.record({ come: fc.integer({ min: 0, max: 3 }), goes: fc.option(fc.nat()) }),
  { minLength: 4, maxLength: 8 },
);

const withQuery = (list: string, more: Record<string, string>): string =>
  `${list}${list.includes('?') ? '&' : '?'}${new URLSearchParams(more)}`;

beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());

let number = 0;

describe.each(Object.entries(lists))('a walk through %s', (_, { open, add, remove }) => {
  it('sees all that stays, and nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(moves, fc.integer({ min: 1, max: 4 }), async (between, limit) => {
        number += 1;
        const list = await open(`walk-${number}`);
        const there = new Set<string>();
        const come = async () => {
          number += 1;
          there.add(await add(list, number));
        };
        for (let made = 0; made < 9; made += 1) await come();
        const atFirst = new Set(there);
        const seen: string[] = [];
        let cursor: string | undefined;
        for (let page = 0; page === 0 || cursor !== undefined; page += 1) {
          const from: Record<string, string> = cursor === undefined ? {} : { cursor };
          const { data, meta } = await ask(
            'GET',
            withQuery(list, { limit: String(limit), ...from }),
          );
          seen.push(...data.map(({ id }) => id));
          cursor = meta.nextCursor ?? meta.cursor;
          const move = between[page % between.length];
          if (page < between.length) for (let at = 0; at < (move?.come ?? 0); at += 1) await come();
          const going = [...there][(move?.goes ?? 0) % there.size];
          if (remove !== undefined && move?.goes != null && going !== undefined) {
            await remove(list, going);
            there.delete(going);
          }
        }
        expect(new Set(seen).size).toBe(seen.length);
        const stayed = [...atFirst].filter((id) => there.has(id));
        expect(stayed.filter((id) => !seen.includes(id))).toEqual([]);
      }),
      { numRuns: 6 },
    );
  });
});

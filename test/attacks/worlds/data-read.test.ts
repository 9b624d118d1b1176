/** Queries of world data that try to inject SQL, to run for long, or to delay other projects. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorld } from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { peopleBody } from '../../support/worlds/people-world.ts';

let control: OwnControl;
let neighbour: Neighbour;

const rows = Array.from({ length: 40_000 }, (_, index) => ({
  id: index + 1,
  email: `${index + 1}@example.test`,
}));

beforeAll(async () => {
  control = await startOwnControl({ queries: { processes: 2, timeLimitMs: 300 } });
  neighbour = await addNeighbour(control);
  await control.send(createWorld, { body: peopleBody({ slug: 'many', rows }) });
  await neighbour.ask('POST', '/worlds', peopleBody({ slug: 'few', rows: rows.slice(0, 3) }));
});

afterAll(() => control.stop());

const ask = async (where: string, more: Record<string, string> = {}, slug = 'many') => {
  const query = new URLSearchParams({ entity: 'people', where, ...more });
  const { status, body } = await control.raw({
    method: 'GET',
    path: `/api/public/worlds/${slug}/data?${query}`,
    headers: { authorization: `Bearer ${control.publicKey}` },
  });
  return { status, body: body as { message?: string; data?: { id: number }[]; meta?: object } };
};

/** Condition that compares every row a hundred times, and fails only at the last comparison. */
const slowWhere = JSON.stringify({
  ...Object.fromEntries(
    Array.from({ length: 99 }, (_, at) => [`address.tags.${at}`, [true, 'none', null]]),
  ),
  plan: 'none',
});

/** Repeats the query while the machine is too overloaded to judge a query by its time. */
const askSlowly = async () => {
  for (;;) {
    const answer = await ask(slowWhere);
    if (answer.status !== 503) return answer;
    expect(answer.body.message).toContain('the machine is overloaded');
  }
};

describe('names and values of a query', () => {
  it.each([
    `{"id\\" OR 1=1 --": 1}`,
    `{"id') OR ('1'='1": 1}`,
    `{"payload": "x"}`,
    `{"_key": "[1]"}`,
    `{"rowid": 1}`,
    `{"svc_store.sum": 1}`,
    `{"$.id": 1}`,
    `{"__proto__": 1}`,
    `{"constructor.prototype": 1}`,
    `{"": 1}`,
    `{"a\\u0000b": 1}`,
    `{"\\ud800": 1}`,
    `{"/id/../email": 1}`,
  ])('cannot inject SQL or read beyond the rows: %s', async (where) => {
    const { status, body } = await ask(where);
    expect([status, body.message]).toEqual([400, expect.stringContaining('where')]);
  });

  it('are compared as plain text, whatever they look like', async () => {
    for (const value of ["' OR 1=1 --", '%', '.*', '^(a+)+$', '$(1+1)', '__proto__', '\u0000']) {
      expect((await ask(JSON.stringify({ email: value }))).body.data, value).toEqual([]);
      expect((await ask(JSON.stringify({ email: [value] }))).body.data, value).toEqual([]);
    }
  });

  it('are refused when they nest too deep or are too many; long lists are accepted', async () => {
    const deep = `{"email":${'['.repeat(4_000)}${']'.repeat(4_000)}}`;
    expect((await ask(deep)).status).toBe(400);
    const path = `{"${'a.'.repeat(2_000)}a":1}`;
    expect((await ask(path)).status).toBe(400);
    const list = JSON.stringify({ id: Array.from({ length: 2_000 }, (_, at) => at) });
    expect((await ask(list, { limit: '1000' })).body).toMatchObject({
      meta: { totalItems: 1_999, nextOffset: 1_000 },
    });
    const many = Object.fromEntries(
      Array.from({ length: 101 }, (_, at) => [`address.tags.${at}`, 1]),
    );
    expect((await ask(JSON.stringify(many))).status).toBe(400);
  });

  it('may start beyond the last row', async () => {
    const offset = String(Number.MAX_SAFE_INTEGER);
    expect((await ask('{}', { offset })).body).toMatchObject({ data: [], meta: {} });
    expect((await ask('{"plan":null}', { offset })).body).toMatchObject({ data: [] });
    expect((await ask('{}', { offset: '1e300' })).status).toBe(400);
  });
});

describe('a slow query', () => {
  it('ends at its timeout, and its error says how to query instead', async () => {
    const { status, body } = await askSlowly();
    expect([status, body.message]).toEqual([
      524,
      'the query took longer than 0.3 s: filter by a field that has an index (see "Data" of the API), or request less at once',
    ]);
    expect((await ask('{"id":7}')).body.data).toHaveLength(1);
  });

  it('does not delay queries of another project', async () => {
    let slowEnded = 0;
    const slow = Array.from({ length: 12 }, async () => {
      const { status } = await askSlowly();
      slowEnded += 1;
      return status;
    });
    const where = encodeURIComponent('{"id":2}');
    for (let round = 0; round < 5; round += 1) {
      const quick = await neighbour.ask('GET', `/worlds/few/data?entity=people&where=${where}`);
      expect(quick).toMatchObject({ status: 200, body: { data: [{ id: 2 }] } });
    }
    expect(slowEnded).toBeLessThan(slow.length);
    expect(new Set(await Promise.all(slow))).toEqual(new Set([524]));
  });
});

describe('the rows of another project', () => {
  it('are not found, whatever version is named', async () => {
    for (const slug of ['many', 'many@1', 'many@latest']) {
      expect((await neighbour.ask('GET', `/worlds/${slug}/data?entity=people`)).status).toBe(404);
    }
  });
});

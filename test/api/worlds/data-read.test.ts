/** Tests reading the rows of worlds: counts, pages of an entity, and linked worlds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redactRow } from '#language/capture/redact.ts';
import type { Row } from '#language/contract.ts';
import { basicAuthorization } from '#wire/client.ts';
import { createWorld, importData, readData } from '#wire/public-api/operations.ts';
import type { GroupsView, RowsView } from '#wire/public-api/worlds/data-read.ts';
import type { Static } from '#wire/type.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { peopleBody, peoplePolicy } from '../../support/worlds/people-world.ts';

let control: OwnControl;
let neighbour: Neighbour;

const people: Row[] = [
  { id: 1, email: 'ann@example.test', plan: 'pro', address: { city: 'Bergen' } },
  { id: 2, email: 'bob@example.test', plan: 'free', boss: 1 },
  { id: 3, email: 'cat@example.test', plan: null, boss: 1 },
];
const others: Row[] = [
  { id: 7, email: 'bob@example.test', plan: 'pro' },
  { id: 8, email: 'ann@example.test', plan: 'pro' },
];

type Query = Parameters<typeof control.read<typeof readData>>[1]['query'];
type Where = Record<string, unknown>;

const ask = async (slug: string, query: Query & { rows?: Where } = {}) => {
  const { rows, ...rest } = query;
  const where = rows === undefined ? {} : { where: JSON.stringify(rows) };
  return (await control.read(readData, { params: { slug }, query: { ...rest, ...where } })).body;
};
const page = async (slug: string, rows?: Where, more: Query = {}) =>
  (await ask(slug, {
    entity: 'people',
    ...more,
    ...(rows === undefined ? {} : { rows }),
  })) as Static<typeof RowsView>;
const across = async (rows: Where, more: Query = {}) =>
  (await ask('crm', { entity: 'people', rows, across: true, ...more })) as GroupsView;

const refused = (query: Query & { rows?: Where }, slug = 'crm') => expect(ask(slug, query)).rejects;

beforeAll(async () => {
  control = await startOwnControl({ queries: { timeLimitMs: 3_000 } });
  neighbour = await addNeighbour(control);
  const make = (body: object) =>
    control.send(createWorld, { body: body as { slug: string; from: string } });
  await make(peopleBody({ slug: 'billing', rows: others }));
  const kept = others.map((row) => redactRow(peoplePolicy('desk'), row).row);
  await make(peopleBody({ slug: 'desk', rows: kept, salt: 'desk' }));
  const links = `\
[dependencies.billing]
pin = "billing@1"
[dependencies.billing.entities]
"people.email" = "people.email"
"people.plan" = "people.plan"

[dependencies.desk]
pin = "desk@latest"
[dependencies.desk.entities]
"people.email" = "people.email"
`;
  await make(peopleBody({ slug: 'crm', rows: people, links }));
  const many = Array.from({ length: 20_000 }, (_, index) => ({
    id: index + 1,
    email: `${index + 1}@example.test`,
    plan: index % 10_000 === 0 ? 'pro' : 'free',
  }));
  await make(peopleBody({ slug: 'many', rows: many }));
  const toMany = `\
[dependencies.many]
pin = "many@1"
[dependencies.many.entities]
"people.plan" = "people.plan"
`;
  await make(peopleBody({ slug: 'few', rows: people, links: toMany }));
});

afterAll(() => control.stop());

describe('the rows of a world', () => {
  it('are counted by entity', async () => {
    expect(await ask('crm')).toEqual({
      slug: 'crm',
      versionId: expect.stringMatching(/^ver-/),
      number: 1,
      entityCounts: { people: 3 },
    });
  });

  it('are read page by page, as stored', async () => {
    expect(await page('crm')).toMatchObject({
      entity: 'people',
      data: people,
      meta: { limit: 100, offset: 0, totalItems: 3, nextOffset: null },
    });
    expect(await page('crm', undefined, { limit: 1, offset: 1 })).toMatchObject({
      data: [{ id: 2 }],
      meta: { limit: 1, offset: 1, totalItems: 3, nextOffset: 2 },
    });
  });

  it('continue from the cursor of a page', async () => {
    const { meta } = await page('crm', undefined, { limit: 2 });
    expect(meta).toMatchObject({ offset: 0, nextOffset: 2, nextCursor: expect.any(String) });
    const cursor = String(meta.nextCursor);
    const next = await page('crm', undefined, { limit: 2, cursor });
    expect(next).toMatchObject({ data: [{ id: 3 }], meta: { offset: 2, nextOffset: null } });
    expect(next.meta).not.toHaveProperty('nextCursor');
    expect((await page('crm', { boss: 1 }, { cursor })).data).toMatchObject([{ id: 3 }]);
    const wrong = { fields: [{ path: ['cursor'], message: expect.anything() }] };
    for (const more of [{ cursor: 'next' }, { cursor, offset: 2 }, { cursor, across: true }]) {
      await refused({ entity: 'people', ...more }).toMatchObject(wrong);
    }
    await refused({ cursor }).toMatchObject(wrong);
  });

  it('are found by values, lists of values, nested paths and null', async () => {
    const ids = async (where: Where) => (await page('crm', where)).data.map(({ id }) => id);
    expect(await ids({ email: 'bob@example.test' })).toEqual([2]);
    expect(await ids({ boss: 1, plan: ['free', 'none'] })).toEqual([2]);
    expect(await ids({ 'address.city': 'Bergen' })).toEqual([1]);
    expect(await ids({ boss: null })).toEqual([1]);
    expect(await ids({ plan: [null, 'free'] })).toEqual([2, 3]);
  });

  it('are read from a version by its address', async () => {
    const body = { rows: { people: [{ id: 4, email: 'dan@example.test' }] } };
    await control.send(importData, { params: { slug: 'billing' }, body });
    const count = async (slug: string) => (await page(slug)).meta.totalItems;
    expect([await count('billing@1'), await count('billing@2'), await count('billing')]).toEqual([
      2, 3, 3,
    ]);
    await refused({ entity: 'people' }, 'billing@9').toMatchObject({ code: 'not_found' });
  });

  it('are found by plain text in a world that stores digests', async () => {
    const where = { email: ['ann@example.test', 'none@example.test'] };
    expect((await page('desk', where)).data).toEqual([]);
    expect((await page('desk', where, { resolve: true })).data).toMatchObject([{ id: 8 }]);
    expect((await page('desk', { note: 'x' }, { resolve: true })).data).toEqual([]);
  });
});

describe('rows across linked worlds', () => {
  it('come in groups, with the rows of the requested world first', async () => {
    const read = await across({ email: 'ann@example.test' }, { resolve: true });
    expect(
      read.groups.map(({ alias, slug, number, data }) => [alias, slug, number, data[0]?.id]),
    ).toEqual([
      [null, 'crm', 1, 1],
      ['billing', 'billing', 1, 8],
      ['desk', 'desk', 1, 8],
    ]);
    expect(read.skipped).toEqual([]);
    expect(read.compare).toBeUndefined();
  });

  it('are read only from linked worlds that map every field', async () => {
    const read = await across({ email: 'ann@example.test', plan: 'pro' });
    expect(read.groups.map(({ slug }) => slug)).toEqual(['crm', 'billing']);
    expect(read.skipped).toEqual([
      {
        alias: 'desk',
        slug: 'desk',
        reason: 'it maps people.email and people.plan to no entity of the linked world',
      },
    ]);
  });

  it('are found by an index of the linked world for a mapped field, with an exact total', async () => {
    const rows = { plan: 'pro' };
    const plain = await page('many', rows, { limit: 1 });
    expect(plain.meta).toMatchObject({ totalItems: 2, totalItemsIsLowerBound: true });
    const asked = { entity: 'people', rows, across: true, limit: 1 };
    for (let times = 0; times < 2; times += 1) {
      const { groups } = (await ask('few', asked)) as GroupsView;
      expect(groups[1]).toMatchObject({
        data: [{ id: 1 }],
        meta: { totalItems: 2, nextOffset: 1 },
      });
      expect(groups[1]?.meta).not.toHaveProperty('totalItemsIsLowerBound');
    }
  });

  it('are compared field by field', async () => {
    const { compare } = await across({}, { compare: true });
    expect(compare).toMatchObject([
      {
        alias: 'billing',
        slug: 'billing',
        number: 1,
        entity: 'people',
        targetEntity: 'people',
        key: { field: 'email', targetField: 'email' },
        rows: { matched: 2, onlyHere: 1, onlyThere: 0 },
        fields: [
          { field: 'email', equal: 2, onlyHere: 1, onlyThere: 0, differing: 0 },
          {
            field: 'plan',
            equal: 1,
            differing: 1,
            examples: [{ key: 'bob@example.test', here: 'free', there: 'pro' }],
          },
        ],
      },
      { alias: 'desk', rows: { matched: 2, onlyHere: 1, onlyThere: 0 } },
    ]);
  });
});

describe('an invalid query', () => {
  it.each([
    [{ across: true }, ['across']],
    [{ compare: true }, ['compare']],
    [{ limit: 5 }, ['limit']],
    [{ entity: 'people', compare: true }, ['compare']],
    [{ entity: 'peple' }, ['entity']],
    [{ entity: 'people', limit: 0 }, ['limit']],
    [{ entity: 'people', limit: 1_001 }, ['limit']],
    [{ entity: 'people', offset: -1 }, ['offset']],
    [{ entity: 'people', where: '{' }, ['where']],
    [{ entity: 'people', where: '[1]' }, ['where']],
    [{ entity: 'people', where: '{"mail":1}' }, ['where', 'mail']],
    [{ entity: 'people', where: '{"address.town":1}' }, ['where', 'address.town']],
    [{ entity: 'people', where: '{"id":{"gt":1}}' }, ['where', 'id']],
  ])('is refused with the name of its parameter: %j', async (query, path) => {
    await refused(query).toMatchObject({
      code: 'invalid',
      fields: [{ path, message: expect.any(String) }],
    });
  });
});

describe('reading the rows of a world', () => {
  const path = '/api/public/worlds/crm/data?entity=people';
  const statusOf = async (authorization?: string) =>
    (
      await control.raw({
        method: 'GET',
        path,
        headers: authorization === undefined ? {} : { authorization },
      })
    ).status;

  it('is allowed with the key pair and the public key of the project, and with no other credential', async () => {
    expect(await statusOf(`Bearer ${control.publicKey}`)).toBe(200);
    expect(await statusOf()).toBe(401);
    expect(await statusOf('Bearer pk-none')).toBe(401);
    expect(await statusOf(basicAuthorization(control.publicKey, 'sk-wrong'))).toBe(401);
    expect(await statusOf(neighbour.authorization)).toBe(404);
  });
});

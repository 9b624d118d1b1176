/**
 * Schemas, patterns, queries and rows of clients that would take forever or all memory to evaluate.
 * They are refused, or end within their limits. The control plane keeps answering other requests
 * meanwhile, because it evaluates none of them on its own thread.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createWorld,
  getWorld,
  getWorldOpenApi,
  openSession,
  runWorldCommand,
} from '#wire/public-api/operations.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type SmallWorld, toTree, unlinkedWorld } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;

const many = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index));

/**
 * Schema of 300 bytes whose evaluation doubles with each level of a value, unless verdicts are
 * cached.
 */
const inside = { c: { $ref: '#/$defs/Knot' } };
const knot = {
  anyOf: [
    { type: 'object', properties: inside, required: ['a'] },
    { type: 'object', properties: inside, required: ['b'] },
    { type: 'object', properties: inside, minProperties: 1 },
  ],
};
const nested = (depth: number): unknown => (depth === 0 ? 5 : { c: nested(depth - 1) });

const withField = (schema: unknown, definitions: Record<string, unknown> = {}): SmallWorld => {
  const world = unlinkedWorld();
  const document = world.json['schema/world.json'];
  Object.assign(document.$defs, definitions);
  document.$defs.Card.properties.x = schema;
  return world;
};

const knotted = (): SmallWorld => withField({ $ref: '#/$defs/Knot' }, { Knot: knot });
const encoded = (world: SmallWorld) => encodeTree(toTree(world));

/** Card of the small world that is valid except for its field `x`. */
const card = (x: unknown) => ({ ...unlinkedWorld().json['data/cards.json'][0], id: 500, x });
const taskOf = (...rows: unknown[]) => ({
  seed: { mode: 'append' as const, rows: { cards: rows } },
});

const open = (slug: string, ...rows: Record<string, unknown>[]) =>
  control.send(openSession, { body: { slug, task: taskOf(...rows) as never } });

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (refusal: unknown) => refusal,
  );

/** Counts requests of another client that are answered before some work ends. */
const answeredDuring = async (work: Promise<unknown>): Promise<number> => {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let answered = 0;
  while (!isDone) {
    await control.read(getWorld, { params: { slug: 'plain' } });
    if (!isDone) answered += 1;
  }
  await done;
  return answered;
};

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  await control.send(createWorld, { body: { slug: 'plain', from: encoded(unlinkedWorld()) } });
  await control.send(createWorld, { body: { slug: 'knotted', from: encoded(knotted()) } });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

describe('a schema that refers to itself in each of several alternatives', () => {
  it.each([22, 50])('is evaluated to the end for a seed row of %i levels', async (depth) => {
    await expect(open('knotted', card(nested(depth)))).rejects.toMatchObject({
      code: 'invalid',
      fields: [
        {
          path: ['task', 'seed', 'rows', 'cards', '0', 'x'],
          message: 'fits none of the allowed alternatives, is an object',
        },
      ],
    });
  });

  it('is evaluated to the end for the rows of a new world', async () => {
    const data = { rows: { cards: [card(nested(50))] } };
    const created = control.send(createWorld, {
      body: { slug: 'new', from: encoded(knotted()), data },
    });
    await expect(created).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ path: ['data', 'rows', 'cards', '0', 'x'] }],
    });
  });

  it.each(['validate', 'compile', 'describe'] as const)(
    'is evaluated to the end by %s',
    async (command) => {
      const world = knotted();
      world.json['data/cards.json'].push(card(nested(60)));
      const body = { command, files: encoded(world) };
      const answer = await control.send(runWorldCommand, { body });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain('fits none of the allowed alternatives');
    },
  );
});

describe('a task that is slow to check', () => {
  const heavy = { type: 'array', items: { allOf: many(390, () => ({ minimum: 0 })) } };
  const list = (length: number) => many(length, () => 1);

  beforeAll(async () => {
    const from = encoded(withField(heavy));
    await control.send(createWorld, { body: { slug: 'heavy', from } });
  });

  it('does not delay other requests', async () => {
    const rows = many(40, () => card(list(6_000)));
    expect(await answeredDuring(refusalOf(open('heavy', ...rows)))).toBeGreaterThan(3);
  });

  it('is refused when one of its rows takes too many steps', async () => {
    await expect(open('heavy', card(list(60_000)))).rejects.toMatchObject({
      code: 'invalid',
      fields: [{ message: expect.stringContaining('takes more than 10000000 steps') }],
    });
  });
});

describe('a value that would exhaust an answer or the stack', () => {
  it('is refused as a problem of the world when it is a schema with very many parts', async () => {
    const files = toTree(unlinkedWorld()).map((file) => {
      if (file.path !== 'schema/world.json') return file;
      const document = JSON.parse(new TextDecoder().decode(file.content));
      document.$defs.Wide = { anyOf: many(300_000, () => true) };
      return { ...file, content: new TextEncoder().encode(JSON.stringify(document)) };
    });
    const body = { command: 'validate' as const, files: encodeTree(files) };
    expect(await control.send(runWorldCommand, { body })).toMatchObject({
      status: 400,
      body: { error: { code: 'schema_too_complex' } },
    });
  });

  it('is not repeated in each problem when it is a long key of a row', async () => {
    const world = unlinkedWorld();
    const wrong = (id: number) => ({ id, ['k'.repeat(500_000)]: 1 });
    world.json['data/cards.json'] = many(3, wrong);
    const body = { command: 'validate' as const, files: encoded(world) };
    const answer = await control.send(runWorldCommand, { body });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body).length).toBeLessThan(200_000);
  });

  it('is not repeated in each problem when it is a long key of a seed row', async () => {
    const refusal = await refusalOf(open('plain', { ['k'.repeat(500_000)]: { a: 1 } }));
    expect(refusal).toMatchObject({ code: 'invalid' });
    expect(JSON.stringify(refusal).length).toBeLessThan(50_000);
  });
});

describe('the OpenAPI document of a world', () => {
  it('is the one that was generated when the world was compiled', async () => {
    const { body, status } = await control.read(getWorldOpenApi, { params: { slug: 'plain' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ openapi: '3.1.0', paths: expect.any(Object) });
  });
});

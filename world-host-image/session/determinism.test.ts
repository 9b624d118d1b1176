/**
 * Tests that a clock and a seed make a session deterministic: the same calls have the same answers and the same
 * resulting state, after a reset, in another session, and for any number of concurrent calls. A failed call changes
 * nothing.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '#test/support/host/serve-world.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { hookedWorld } from '#test/support/worlds/webhook-world.ts';

type Step =
  | { kind: 'tool'; name: string; input: Row }
  | { kind: 'api'; method: string; path: string; body?: Row };

const hooks = [
  { id: 1, url: 'https://a.example/all', secret: 'hush' },
  { id: 2, url: 'https://a.example/closed', secret: 'hush', events: ['ticket.closed'] },
];

const open = () =>
  serveWorld(hookedWorld(hooks), {
    clock: { at: '2026-03-01T09:00:00.000Z', mode: 'stepped', rate: 60 },
    seed: 7,
  });

let world: ServedWorld;
let other: ServedWorld;
beforeAll(async () => {
  [world, other] = await Promise.all([open(), open()]);
});
afterAll(() => Promise.all([world.stop(), other.stop()]));

const ask = async (at: ServedWorld, { method, path, body }: Extract<Step, { kind: 'api' }>) => {
  const answer = await fetch(at.url + path, {
    method,
    headers: { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { failed: answer.status >= 400, said: [answer.status, await answer.text()] as unknown };
};

/** Runs a step. Returns the step's answer and whether it failed. */
const take = async (at: ServedWorld, step: Step): Promise<{ failed: boolean; said: unknown }> => {
  if (step.kind === 'api') return ask(at, step);
  const said = await at.call('tool', step.name, step.input);
  return { failed: said.error !== undefined, said };
};

const digestOf = async (at: ServedWorld): Promise<string> =>
  ((await at.call('state')).output as { digest: string }).digest;

/** Returns deliveries without the parts that depend on the machine's clock: times and signatures. */
const deliveriesOf = async (at: ServedWorld): Promise<unknown[]> => {
  const where = { entity: 'svc_requests', where: { via: 'webhook' }, limit: 1_000 };
  const { rows } = (await at.call('state', undefined, where)).output as {
    rows: { operation: string; request: { url: string; body: unknown } }[];
  };
  return rows.map(({ operation, request: { url, body } }) => [operation, url, body]);
};

/** Runs the steps. Returns all answers, the digest of the resulting state, and the deliveries. */
const play = async (at: ServedWorld, steps: readonly Step[]) => {
  await at.reset();
  const answers: unknown[] = [];
  for (const step of steps) answers.push((await take(at, step)).said);
  return { answers, digest: await digestOf(at), deliveries: await deliveriesOf(at) };
};

const id = fc.integer({ min: 1, max: 4 });
/** Generates titles, some of which the contract rejects as too long or empty. */
const title = fc.constantFrom('Printer', 'Ünï', '', 'a title of more than twenty letters');

const tool = (name: string, input: fc.Arbitrary<Row>): fc.Arbitrary<Step> =>
  input.map((given) => ({ kind: 'tool', name, input: given }));

const api = (
  method: string,
  path: fc.Arbitrary<string>,
  body?: fc.Arbitrary<Row>,
): fc.Arbitrary<Step> =>
  fc
    .tuple(path, body ?? fc.constant(undefined))
    .map(([to, sent]) => ({ kind: 'api', method, path: to, ...(sent ? { body: sent } : {}) }));

const ticket = id.map((number) => `/tickets/${number}`);

const anyTool = fc.oneof(
  tool('open_ticket', fc.record({ title })),
  tool('open_many', fc.record({ count: fc.integer({ min: 0, max: 3 }), title })),
  tool('open_and_fail', fc.record({ title })),
  tool('rename_ticket', fc.record({ id, title })),
  tool('rename_and_throw', fc.record({ id, title })),
  tool('send', fc.record({ type: fc.constantFrom('ping', 'two words'), body: title })),
  tool('delete_tickets', fc.record({ id })),
  tool('create_tickets', fc.constantFrom({ id: 2 }, { id: 3, key: 'k', title: 'x' })),
  tool('nothing', fc.constant({})),
);

/** Generates calls that crash their worker; replacing the worker takes a while. */
const crash = tool('open_and_crash', fc.constant({ title: 'Printer' }));

const anyStep = fc.oneof(
  { weight: 1, arbitrary: crash },
  { weight: 20, arbitrary: anyTool },
  {
    weight: 20,
    arbitrary: fc.oneof(
      api('GET', fc.constantFrom('/tickets', '/tickets?limit=1', '/tickets?limit=x', '/nowhere')),
      api('POST', fc.constant('/tickets'), fc.record({ title })),
      api('PATCH', ticket, fc.record({ title })),
      api('DELETE', ticket),
      api(
        'POST',
        ticket.map((path) => `${path}/close`),
      ),
      api('POST', fc.constantFrom('/answers/200', '/answers/418', '/answers/x')),
    ),
  },
);

const steps = fc.array(anyStep, { minLength: 1, maxLength: 12 });

describe('a session with a clock and a seed', () => {
  it('gives the same answers to the same calls, after a reset and in another session', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const first = await play(world, sequence);
        expect(await play(world, sequence)).toEqual(first);
        expect(await play(other, sequence)).toEqual(first);
      }),
      fuzzRuns(20),
    );
  });

  it('is unchanged by every call that fails', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        await world.reset();
        for (const step of sequence) {
          const [digest, deliveries] = [await digestOf(world), await deliveriesOf(world)];
          const { failed } = await take(world, step);
          if (!failed) continue;
          expect(await digestOf(world)).toBe(digest);
          expect(await deliveriesOf(world)).toEqual(deliveries);
        }
      }),
      fuzzRuns(20),
    );
  });

  it('runs concurrent calls one after another', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyTool, { minLength: 2, maxLength: 12 }), async (sequence) => {
        const { answers, digest } = await play(world, sequence);
        await other.reset();
        const atOnce = await Promise.all(sequence.map((step) => take(other, step)));
        expect(atOnce.map(({ said }) => said)).toEqual(answers);
        expect(await digestOf(other)).toBe(digest);
      }),
      fuzzRuns(20),
    );
  });

  it('has times determined by its clock, and ids determined by its seed', async () => {
    await world.reset();
    const { output: first } = await world.call('tool', 'open_ticket', { title: 'x' });
    await take(world, { kind: 'api', method: 'GET', path: '/tickets' });
    const { said } = await take(world, {
      kind: 'api',
      method: 'POST',
      path: '/tickets',
      body: { title: 'y' },
    });
    const second = JSON.parse((said as [number, string])[1]);
    expect([(first as Row).changed_at, second.changed_at]).toEqual([
      '2026-03-01T09:01:00Z',
      '2026-03-01T09:03:00Z',
    ]);
    expect(second.key).not.toBe((first as Row).key);
  });
});

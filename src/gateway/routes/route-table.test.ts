import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import type { Route } from '#wire/gateway-api/operations.ts';
import { createRouteTable, type RouteTableOptions } from './route-table.ts';

const route = (sessionId: string, state: Route['state'] = 'READY'): Route => ({
  sessionId,
  state,
  endReason: null,
  surfaces: {},
});

/** Creates a table whose clock and answers the test controls. */
const tableOf = (options: Partial<RouteTableOptions> = {}) => {
  const asked: string[] = [];
  const world = { now: 0, answer: async (id: string): Promise<Route> => route(id) };
  const table = createRouteTable({
    most: 100,
    now: () => world.now,
    ask(id) {
      asked.push(id);
      return world.answer(id);
    },
    ...options,
  });
  return { table, asked, world };
};

const none = async (): Promise<never> => {
  throw new AppError('not_found', 'none');
};
const away = async (): Promise<never> => {
  throw new AppError('unavailable', 'away');
};

describe('the route table', () => {
  it('shares one lookup among concurrent requests, and looks a route up again after the maximum age', async () => {
    const { table, asked, world } = tableOf();
    const found = await Promise.all([table.find('a'), table.find('a'), table.find('a')]);
    expect(found).toEqual(Array(3).fill({ kind: 'route', route: route('a') }));
    world.now = 59_999;
    await table.find('a');
    expect(asked).toEqual(['a']);
    world.now = 60_000;
    await table.find('a');
    expect(asked).toEqual(['a', 'a']);
  });

  it.each([
    ['a session that starts', async (id: string) => route(id, 'PROVISIONING'), 500],
    ['a session that is closing', async (id: string) => route(id, 'CLOSING'), 500],
    ['a session that does not exist', none, 2_000],
  ])('caches the lookup of %s only for a short time', async (_, answer, ms) => {
    const { table, asked, world } = tableOf();
    world.answer = answer;
    await table.find('a');
    world.now = ms - 1;
    await table.find('a');
    expect(asked).toHaveLength(1);
    world.now = ms;
    await table.find('a');
    expect(asked).toHaveLength(2);
  });

  it('ignores an answer that was requested before a change', async () => {
    const { table, asked, world } = tableOf();
    const first = Promise.withResolvers<Route>();
    world.answer = () => first.promise;
    const early = table.find('a');
    table.expire(['a']);
    world.answer = async (id) => route(id, 'CLOSED');
    const late = table.find('a');
    first.resolve(route('a'));
    await early;
    expect(await late).toMatchObject({ route: { state: 'CLOSED' } });
    expect(await table.find('a')).toMatchObject({ route: { state: 'CLOSED' } });
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  it('keeps using known routes for a while if the control plane does not answer', async () => {
    const { table, asked, world } = tableOf();
    await table.find('a');
    world.answer = away;
    table.expireAll();
    for (let i = 0; i < 5; i += 1) expect(await table.find('a')).toMatchObject({ kind: 'route' });
    expect(asked).toHaveLength(2);
    expect(await table.find('b')).toEqual({ kind: 'unknown' });
    world.now = 3_600_001;
    expect(await table.find('a')).toEqual({ kind: 'unknown' });
    expect(table.size()).toBe(0);
  });

  it('stops using a route when the control plane rejects the token of the gateway', async () => {
    const { table, world } = tableOf();
    await table.find('a');
    world.answer = async () => {
      throw new AppError('unauthenticated', 'the gateway token is not valid');
    };
    table.expireAll();
    expect(await table.find('a')).toEqual({ kind: 'unknown' });
    world.answer = away;
    expect(await table.find('a')).toEqual({ kind: 'unknown' });
  });

  it('does not use an expired route that was about to change, even if the control plane does not answer', async () => {
    const { table, world } = tableOf();
    world.answer = async (id) => route(id, 'PROVISIONING');
    await table.find('a');
    world.answer = away;
    table.expireAll();
    expect(await table.find('a')).toEqual({ kind: 'unknown' });
  });

  it('evicts the least recently used entry when it is full', async () => {
    const { table, asked } = tableOf({ most: 2 });
    for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await table.find(id);
    expect(table.size()).toBe(2);
    expect(asked).toEqual(['a', 'b', 'c', 'b']);
  });
});

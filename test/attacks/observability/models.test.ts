/**
 * Patterns of models that are slow to match. If matching runs out of time, the result is not cached, so only the
 * attacker's own project loses prices.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';

let control: OwnControl;
let victim: Neighbour;
let attacker: Neighbour;

beforeAll(async () => {
  control = await startOwnControl();
  victim = await addNeighbour(control);
  attacker = await addNeighbour(control);
});
afterAll(() => control.stop());

const must = async (asked: ReturnType<Neighbour['ask']>): Promise<Record<string, unknown>> => {
  const { status, body } = await asked;
  if (status !== 200 && status !== 207) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body as Record<string, unknown>;
};

const common = { modelName: 'house', matchPattern: '(?i)^house-model$', totalPrice: 1 };
/** Returns a pattern that takes over ten milliseconds to match each of the names. */
const slow = (number: number): string => `[ab]*a[ab]{${100 + number}}$`;
const slowName = (number: number): string => {
  const bits = Array.from({ length: 190 }, (_, at) => (at * (number + 7) * 7_919) % 1_009);
  return bits.map((bit) => (bit % 2 === 0 ? 'a' : 'b')).join('');
};

const makeModel = ({ ask }: Neighbour, body: object): Promise<object> =>
  must(ask('POST', '/models', body));

/** Sends generations of these models, and returns the cost of the first one. */
const costOf = async ({ ask }: Neighbour, turn: string, models: readonly string[]) => {
  const timestamp = new Date().toISOString();
  const batch = models.map((model, index) => ({
    ...{ id: `${turn}-${index}`, type: 'generation-create', timestamp },
    body: { id: `${turn}-${index}`, traceId: turn, model, usageDetails: { input: 2 } },
  }));
  await must(ask('POST', '/ingestion', { batch }));
  return (await must(ask('GET', `/observations/${turn}-0`))).calculatedTotalCost;
};

it('a pattern that runs out of time in one project still gives prices in other projects that have the same pattern', async () => {
  for (const one of [victim, attacker]) await makeModel(one, common);
  expect(await costOf(victim, 'before', ['house-model'])).toBe(2);
  for (let number = 0; number < 20; number += 1) {
    await makeModel(attacker, {
      modelName: `slow ${number}`,
      matchPattern: slow(number),
      totalPrice: 1,
    });
  }
  const names = Array.from({ length: 601 }, (_, number) => slowName(number));
  const attacked = await costOf(attacker, 'attack', ['house-model', ...names]);
  expect(await costOf(victim, 'after', ['house-model'])).toBe(2);
  expect(await costOf(victim, 'new name', ['HOUSE-MODEL'])).toBe(2);
  // A match found in time also counts for the attacker's own project.
  expect(attacked).toBe(2);
}, 120_000);

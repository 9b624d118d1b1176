/** Tests that the events of one object are merged to the same state in any order, repeated, and split into batches. */
import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { observationFields } from './object.ts';
import { readEvent } from './read-batch.ts';
import { beganAt, fieldOf, mergeStates, metadataOf, overlay, type State } from './state.ts';
import { fromStored, toStored } from './stored.ts';

const at = (ms: number): string => new Date(Date.UTC(2026, 2, 1) + ms).toISOString();

const stateOf = (type: string, ms: number, body: object, position = 0): State => {
  const event = { id: 'e', type, timestamp: at(ms), body: { id: 'o', traceId: 't', ...body } };
  const read = readEvent(event, position);
  if (!('content' in read) || !('state' in read.content)) throw new Error(JSON.stringify(read));
  return read.content.state;
};

const merge = (states: readonly State[]): State => states.reduce(mergeStates);

describe('events of one object', () => {
  it('keep the value of an update, even if a create has a later time', () => {
    const update = stateOf('generation-update', 0, { output: 'done', usage: { input: 1 } });
    const create = stateOf('generation-create', 3, { output: 'begun', name: 'g' });
    const both = merge([update, create]);
    expect([fieldOf(both, 'output'), fieldOf(both, 'name')]).toEqual(['"done"', 'g']);
  });

  it('keep the value of the later of two updates, and keep fields that only one of them sets', () => {
    const one = stateOf('span-update', 1, { name: 'one', statusMessage: 'kept' });
    const two = stateOf('span-update', 2, { name: 'two' });
    const both = merge([two, one]);
    expect([fieldOf(both, 'name'), fieldOf(both, 'statusMessage')]).toEqual(['two', 'kept']);
  });

  it('distinguish a cleared field from one that was never set', () => {
    const create = stateOf('span-create', 0, { name: 'one', version: '1' });
    const update = stateOf('span-update', 1, { name: null });
    const both = merge([create, update]);
    expect([fieldOf(both, 'name'), fieldOf(both, 'version')]).toEqual([null, '1']);
  });

  it('give the object the earliest start that an event states, otherwise the time of the first event', () => {
    const update = stateOf('span-update', 0, { endTime: at(50) });
    const create = stateOf('span-create', 9, { startTime: at(20) });
    const again = stateOf('span-create', 9, { startTime: at(30) });
    expect(beganAt(update)).toBe(Date.parse(at(0)));
    expect(beganAt(merge([update, again, create]))).toBe(Date.parse(at(20)));
  });

  it('keep the type of the creating event', () => {
    const both = merge([stateOf('span-update', 5, {}), stateOf('agent-create', 1, {})]);
    expect(fieldOf(both, 'type')).toBe('AGENT');
  });

  it('unite their tags, and merge their metadata member by member', () => {
    const one = stateOf('trace-create', 1, {
      tags: ['b', 'a'],
      metadata: { x: { p: 1, q: 1 }, y: 1 },
    });
    const two = stateOf('trace-create', 2, { tags: ['c', 'a'], metadata: { x: { q: 2 } } });
    const both = merge([two, one]);
    expect(both.tags).toEqual(['a', 'b', 'c']);
    expect(metadataOf(both)).toEqual({ x: { p: 1, q: 2 }, y: 1 });
  });

  it('store the metadata of many events in a bounded number of layers', () => {
    const states = Array.from({ length: 100 }, (_, i) =>
      stateOf('trace-create', i, { metadata: { [`k${i}`]: i } }),
    );
    const all = merge(states);
    expect(all.metadata.length).toBeLessThanOrEqual(32);
    expect(Object.keys(metadataOf(all) as object)).toHaveLength(100);
  });
});

describe('overlay', () => {
  it('treats a member named __proto__ as data', () => {
    const over = JSON.parse('{"__proto__": {"polluted": 1}}');
    expect(JSON.stringify(overlay({ a: 1 }, over))).toContain('"a":1');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

const json = fc.jsonValue({ maxDepth: 3 });
const metadata = fc.dictionary(fc.constantFrom('a', 'b', 'c'), json, { maxKeys: 3 });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const word = fc.constantFrom('one', 'two', null);

const body = fc.record({
  name: maybe(word),
  level: maybe(fc.constantFrom('ERROR', 'DEBUG', null)),
  input: maybe(json),
  startTime: maybe(fc.integer({ min: 0, max: 9 }).map(at)),
  metadata: maybe(fc.oneof(metadata, json)),
});

const states = fc
  .array(
    fc.tuple(
      fc.constantFrom('span-create', 'span-update', 'generation-update', 'agent-create'),
      fc.integer({ min: 0, max: 4 }),
      body,
      fc.integer({ min: 0, max: 3 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((events) => events.map((event) => stateOf(...event)));

const runs = { numRuns: 300 * inject('fuzz').times, seed: inject('fuzz').seed };

describe('any events of one object', () => {
  it('merge to the same state in any order, repeated, and split into batches', () => {
    fc.assert(
      fc.property(states, fc.infiniteStream(fc.nat()), (events, chance) => {
        const draw = (below: number): number => (chance.next().value as number) % below;
        const shuffled = [...events, ...events.filter(() => draw(2) === 0)]
          .map((event) => [draw(1_000_000), event] as const)
          .sort(([a], [b]) => a - b)
          .map(([, event]) => event);
        const cutAt = 1 + draw(shuffled.length);
        const batches = [shuffled.slice(0, cutAt), shuffled.slice(cutAt)].filter(
          (batch) => batch.length > 0,
        );
        expect(merge(batches.map(merge))).toEqual(merge(events));
      }),
      runs,
    );
  });

  it('keep every value of the highest rank', () => {
    fc.assert(
      fc.property(states, (events) => {
        const merged = merge(events);
        for (const { values } of events) {
          for (const [field, [rank]] of Object.entries(values)) {
            expect((merged.values[field]?.[0] ?? '') >= rank).toBe(true);
          }
        }
      }),
      runs,
    );
  });
});

describe('a stored state', () => {
  it('merges with later events as if all had arrived together', () => {
    fc.assert(
      fc.property(states, states, (earlier, later) => {
        const kept = fromStored(toStored(merge(earlier), observationFields));
        const apart = mergeStates(kept, merge(later));
        const together = merge([...earlier, ...later]);
        expect(toStored(apart, observationFields)).toEqual(toStored(together, observationFields));
      }),
      runs,
    );
  });
});

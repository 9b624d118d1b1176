/**
 * Tests that a copy of an entity that follows the change log equals the entity, whatever transactions did meanwhile:
 * some were committed, some failed, some are in progress.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSampleStore } from '#test/support/worlds/sample-store.ts';
import { StoreRefusal } from './refusal.ts';
import type { WorldStore } from './world-store.ts';

const entity = 'users';

/** Creates a copy of the users, as a caller of `changedSince` maintains it. */
const createCopy = (store: WorldStore) => {
  let known = -1;
  let rows = new Map<number, string>();
  const readAll = (): void => {
    rows = new Map(store.rowsOf(entity).map(({ position, payload }) => [position, payload]));
  };
  return {
    update(): 'all' | number {
      const changed = known === -1 ? 'all' : store.versions.changedSince(entity, known);
      known = store.versions.version(entity);
      if (changed === 'all') {
        readAll();
        return changed;
      }
      for (const position of changed) {
        const payload = store.rowAt(entity, position);
        if (payload === undefined) rows.delete(position);
        else rows.set(position, payload);
      }
      return changed.size;
    },
    rows: () => [...rows].sort(([a], [b]) => a - b).map(([, payload]) => payload),
  };
};

const id = fc.integer({ min: 1, max: 6 });
type Step = (store: WorldStore, look: () => void) => void;

const step: fc.Arbitrary<Step> = fc.oneof(
  id.map(
    (n): Step =>
      (store) =>
        store.insert(entity, { login: `u${n}`, id: 10 + n }),
  ),
  fc.tuple(id, id).map(
    ([n, to]): Step =>
      (store) =>
        void store.update(entity, { login: `u${n}` }, { id: to }),
  ),
  fc.tuple(id, id).map(
    ([n, to]): Step =>
      (store) => {
        store.update(entity, { login: `u${n}` }, { login: `u${to}` }); // its key changes
      },
  ),
  id.map(
    (n): Step =>
      (store) =>
        store.remove(entity, { login: `u${n}` }),
  ),
  fc.constant<Step>((_store, look) => look()),
);

const work = fc.record({ steps: fc.array(step, { maxLength: 8 }), fails: fc.boolean() });
const move = fc.oneof({ weight: 6, arbitrary: work }, fc.constant('reset' as const));

describe('a copy of an entity', () => {
  it('equals the entity after any series of writes, failures and resets', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 12 }), async (moves) => {
        const store = openSampleStore();
        store.mark('base');
        store.mark('task');
        const copy = createCopy(store);
        const look = (): void => {
          copy.update();
          expect(copy.rows()).toEqual(store.query(entity));
        };
        const tolerant = (run: Step): void => {
          try {
            run(store, look);
          } catch (error) {
            if (!(error instanceof StoreRefusal)) throw error;
          }
        };
        for (const each of moves) {
          if (each === 'reset') store.rollBackTo('task');
          else {
            const done = store.atomically(() => {
              for (const run of each.steps) tolerant(run);
              if (each.fails) throw new StoreRefusal({ entity, kind: 'shape', detail: 'wanted' });
            });
            await done.catch((error: unknown) => expect(error).toBeInstanceOf(StoreRefusal));
          }
          look();
        }
        store.close();
      }),
      { numRuns: 60 },
    );
  });

  it('is updated with the rows that changed, and no others', async () => {
    const store = openSampleStore();
    const copy = createCopy(store);
    expect(copy.update()).toBe('all');
    expect(copy.update()).toBe(0);
    await store.atomically(() => store.insert(entity, { login: 'eve', id: 9 }));
    await store.atomically(() => store.remove('issues', { id: 12 }));
    expect(copy.update()).toBe(1);
  });

  it('is invalidated as a whole after too many changes, and after a return to a mark', async () => {
    const store = openSampleStore();
    store.mark('base');
    const copy = createCopy(store);
    copy.update();
    const insert = (from: number, count: number) =>
      store.atomically(() => {
        for (let n = from; n < from + count; n += 1)
          store.insert(entity, { login: `n${n}`, id: n });
      });
    await insert(100, 200);
    expect(copy.update()).toBe(200);
    await insert(300, 2_000);
    expect(copy.update()).toBe('all');
    store.rollBackTo('base');
    expect(copy.update()).toBe('all');
    expect(copy.rows()).toEqual(store.query(entity));
  });

  it('is updated with the rows of a long transaction that was undone', async () => {
    const store = openSampleStore();
    const copy = createCopy(store);
    copy.update();
    const failing = store.atomically(() => {
      for (let n = 100; n < 1_100; n += 1) {
        store.insert(entity, { login: `n${n}`, id: n });
        copy.update();
      }
      throw new StoreRefusal({ entity, kind: 'shape', detail: 'wanted' });
    });
    await expect(failing).rejects.toThrow('wanted');
    expect(copy.update()).toBe('all');
    expect(copy.rows()).toEqual(store.query(entity));
  });

  it('has a size that is known before rows are read, unless there are too many rows', () => {
    const store = openSampleStore();
    const bytes = store.query(entity).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(store.sizeOf(entity, 2)).toBe(bytes);
    expect(store.sizeOf(entity, 1)).toBeUndefined();
    expect(() => store.versions.version('nope')).toThrow('no entity "nope"');
  });
});

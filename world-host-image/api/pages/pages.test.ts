/** Paging while other clients insert and delete: no row is missed or repeated. */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type ApiClient, notesUpTo, operation, serveApi } from '#test/support/worlds/api-world.ts';
import { readCursor, writeCursor } from './cursor.ts';

const started = 30;

const api: ApiClient = await serveApi({
  api: 'page = "cursor"\nenvelope = "data"\nprevious_key = "previous"',
  operations: [
    operation('GET', '/notes', 'filter = { state = "state" }', { params: ['state'] }),
    operation('POST', '/notes', 'action = "create"\ngenerate = { id = "int", key = "uuid" }'),
    operation('DELETE', '/notes/{id}', 'action = "delete"\nfilter = { id = "id" }'),
  ].join(''),
  notes: notesUpTo(started, (id) => ({
    key: `note ${id}`,
    state: id % 3 === 0 ? 'done' : 'open',
  })),
});

afterAll(() => api.stop());

type Page = { data: Row[]; hits: number; cursor: string | null; previous: string | null };

const pageAt = async (query: string): Promise<Page> =>
  (await api.get(`/notes?${query}`)).json as Page;

const idsIn = ({ data }: Page): number[] => data.map(({ id }) => Number(id));

const keysIn = ({ data }: Page): string[] => data.map(({ key }) => String(key));

/** Writes of other clients between two pages: the number of notes to insert, and the ids of notes to delete. */
const meddling = fc.record({
  inserts: fc.integer({ min: 0, max: 3 }),
  deletes: fc.array(fc.nat({ max: 60 }), { maxLength: 4 }),
});

const meddle = async ({ inserts, deletes }: { inserts: number; deletes: number[] }) => {
  for (let index = 0; index < inserts; index += 1) {
    await api.ask('POST', '/notes', { body: { title: 'new', state: 'open' } });
  }
  for (const id of deletes) await api.ask('DELETE', `/notes/${id}`);
};

describe('pages by cursor', () => {
  it('return, in forward direction, every row that existed throughout, once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 12 }),
        fc.constantFrom('', 'state=open&'),
        fc.array(meddling, { minLength: 1, maxLength: 6 }),
        async (limit, filter, meddlings) => {
          await api.reset();
          const seen: string[] = [];
          let query = `${filter}limit=${limit}`;
          for (let turn = 0; ; turn += 1) {
            const page = await pageAt(query);
            seen.push(...keysIn(page));
            if (page.cursor === null) break;
            const others = meddlings[turn];
            if (others !== undefined) await meddle(others);
            query = `${filter}limit=${limit}&cursor=${page.cursor}`;
          }
          expect(seen).toEqual([...new Set(seen)]);
          const left = keysIn(await pageAt(`${filter}limit=10000`));
          expect(seen.filter((key) => left.includes(key))).toEqual(left);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('return the same pages in backward direction', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (limit) => {
        await api.reset();
        const forwards: Page[] = [await pageAt(`limit=${limit}`)];
        for (let cursor = forwards[0]?.cursor; cursor; cursor = forwards.at(-1)?.cursor) {
          forwards.push(await pageAt(`limit=${limit}&cursor=${cursor}`));
        }
        expect(forwards.flatMap(idsIn)).toHaveLength(started);
        const backwards: Page[] = forwards.slice(-1);
        for (let cursor = backwards[0]?.previous; cursor; cursor = backwards[0]?.previous) {
          backwards.unshift(await pageAt(`limit=${limit}&cursor=${cursor}`));
        }
        expect(backwards).toEqual(forwards);
      }),
      { numRuns: 8 },
    );
  });

  it('continue in both directions after the row at the cursor was deleted', async () => {
    await api.reset();
    const first = await pageAt('limit=28');
    for (const id of [28, 29, 30]) await api.ask('DELETE', `/notes/${id}`);
    const end = await pageAt(`limit=28&cursor=${first.cursor}`);
    expect([idsIn(end), end.cursor, end.hits]).toEqual([[], null, 27]);
    expect(idsIn(await pageAt(`limit=2&cursor=${end.previous}`))).toEqual([26, 27]);
    await meddle({ inserts: 1, deletes: [] });
    expect(idsIn(await pageAt(`limit=28&cursor=${first.cursor}`))).toEqual([31]);
  });

  it('are the same after a reset', async () => {
    await api.reset();
    const once = async () => {
      await meddle({ inserts: 2, deletes: [30, 31, 2] });
      return [await pageAt('limit=5'), await pageAt('state=open&limit=12')];
    };
    const first = await once();
    await api.reset();
    expect(await once()).toEqual(first);
  });
});

describe('a cursor', () => {
  it('can be read back, but only for the operation that it was written for', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('after' as const, 'before' as const),
        fc.maxSafeNat(),
        (side, position) => {
          const cursor = writeCursor('list', { side, position });
          expect(cursor).toMatch(/^[\w-]+$/);
          expect(readCursor('list', cursor)).toEqual({ side, position });
          expect(readCursor('other', cursor)).toBeUndefined();
        },
      ),
    );
  });

  it('is refused if the server did not make it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readCursor('list', text)).toBeUndefined();
      }),
    );
  });
});

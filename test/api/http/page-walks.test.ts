/**
 * Tests every list of the public API by random walks. By cursor, while rows are added and removed: each row that exists
 * from start to end is returned, and none twice. By page, without concurrent writes: each row is returned exactly once.
 * A new list route must be added to one of `support/walks`.
 */
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationShape } from '#wire/operation.ts';
import * as api from '#wire/public-api/operations.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import {
  type Answered,
  type Listed,
  type Lists,
  type Stage,
  stageOf,
  withQuery,
} from '../../support/control/walks/listed.ts';
import { listsOfResources } from '../../support/control/walks/resources.ts';
import { listsOfTraces } from '../../support/control/walks/traces.ts';
import { listsOfWorldsAndSessions } from '../../support/control/walks/worlds.ts';

const parametersOf = ({ query }: OperationShape): string[] =>
  Object.keys((query as { properties?: object } | undefined)?.properties ?? {});

/** Public operations that return pages. */
const operations = (Object.values(api) as OperationShape[]).filter(
  (operation) => operation.method === 'GET' && parametersOf(operation).includes('limit'),
);

/** Reasons why an operation has no walk here. */
const withoutWalk: Readonly<Record<string, string>> = {
  listDashboards: 'has one page, as the specification has it',
  listTemplates: 'comes with the service: test/api/worlds/worlds.test.ts walks',
  listWorldTasks: 'is of one version, which does not change: test/api/worlds/worlds.test.ts walks',
  listWebhooks:
    'is answered by the host of a session: world-host-image/calls/webhooks.test.ts walks',
};

let control: OwnControl;
let stage: Stage;
let lists: Lists;
let number = 0;

beforeAll(async () => {
  control = await startNotesControl({ files: { folder: tmpdir(), endpoints: [] } });
  stage = stageOf(control);
  lists = {
    ...listsOfTraces(stage),
    ...listsOfResources(stage),
    ...listsOfWorldsAndSessions(stage),
  };
});
afterAll(() => control.stop());

const listedOf = (id: string): Listed => {
  const listed = lists[id as keyof Lists];
  if (listed === undefined) throw new Error(`support/walks has no ${id}`);
  return listed;
};

/** A list, the rows that it should contain, and the rows that its pages have returned. */
class Walked {
  readonly there = new Set<string>();
  readonly seen: string[] = [];
  readonly listed: Listed;
  readonly list: string;
  private constructor(listed: Listed, list: string) {
    this.listed = listed;
    this.list = list;
  }
  static async open(listed: Listed, rows: number): Promise<Walked> {
    number += 1;
    const walked = new Walked(listed, await listed.open(`walk-${number}`));
    await walked.come(rows);
    return walked;
  }
  async come(rows: number): Promise<void> {
    for (let at = 0; at < rows; at += 1) {
      number += 1;
      this.there.add(await this.listed.add(this.list, number));
    }
  }
  /** Removes the row at an index, if the list supports removal and has rows. */
  async go(place: number | null): Promise<void> {
    const going = place === null ? undefined : [...this.there][place % this.there.size];
    if (this.listed.remove === undefined || going === undefined) return;
    await this.listed.remove(this.list, going);
    this.there.delete(going);
  }
  /** Reads a page and records its rows. */
  async see(more: Record<string, string>): Promise<{ answer: Answered; rows: string[] }> {
    const ask = this.listed.isAccount ? stage.account : stage.ask;
    const answer = await ask('GET', withQuery(this.list, more));
    const rows = (this.listed.rowsOf?.(answer) ?? answer.data).map(
      (row) => this.listed.idOf?.(row) ?? row.id,
    );
    this.seen.push(...rows);
    return { answer, rows };
  }
  doubled(): string[] {
    return this.seen.filter((id, at) => this.seen.indexOf(id) !== at);
  }
  missed(of: ReadonlySet<string>): string[] {
    return [...of].filter((id) => this.there.has(id) && !this.seen.includes(id));
  }
}

/** Changes between two pages: the number of rows added, and the index of the row removed, if any. */
const moves = fc.array(
  fc.record({ come: fc.integer({ min: 0, max: 3 }), goes: fc.option(fc.nat()) }),
  { minLength: 4, maxLength: 8 },
);

const cursorOf = ({ meta, ...answer }: Answered): string | undefined =>
  meta?.nextCursor ?? meta?.cursor ?? answer.nextCursor ?? undefined;

/** Start of the next page, by the name of the query parameter that sets it; undefined after the last page. */
const nextBy: Record<string, (answer: Answered, rows: string[]) => string | undefined> = {
  cursor: cursorOf,
  after: (_, rows) => rows.at(-1),
};

const walkMeanwhile = (operation: OperationShape, by: string) => {
  const listed = listedOf(operation.id);
  return fc.assert(
    fc.asyncProperty(moves, fc.integer({ min: 1, max: 4 }), async (between, limit) => {
      const walked = await Walked.open(listed, 9);
      const atFirst = new Set(walked.there);
      let place: string | undefined;
      for (let page = 0; page === 0 || place !== undefined; page += 1) {
        const from: Record<string, string> = place === undefined ? {} : { [by]: place };
        const { answer, rows } = await walked.see({ limit: String(limit), ...from });
        place = nextBy[by]?.(answer, rows);
        if (page >= between.length) continue;
        await walked.come(between[page]?.come ?? 0);
        await walked.go(between[page]?.goes ?? null);
      }
      expect(walked.doubled()).toEqual([]);
      expect(walked.missed(atFirst)).toEqual([]);
    }),
    { numRuns: listed.walks ?? 5 },
  );
};

/**
 * Position of a page, by the name of the query parameter that sets it: the number of the page, or the number of rows
 * before it.
 */
const placeOf: Record<string, (page: number, limit: number, listed: Listed) => number> = {
  page: (page, _, { firstPage = 1 }) => page + firstPage,
  offset: (page, limit) => page * limit,
};

const walkAtRest = (operation: OperationShape, by: string) => {
  const listed = listedOf(operation.id);
  const goes = fc.array(fc.nat(), { maxLength: 3 });
  return fc.assert(
    fc.asyncProperty(goes, fc.integer({ min: 1, max: 4 }), async (gone, limit) => {
      const walked = await Walked.open(listed, 7);
      for (const place of gone) await walked.go(place);
      for (let page = 0; ; page += 1) {
        const place = placeOf[by]?.(page, limit, listed);
        const { rows } = await walked.see({ limit: String(limit), [by]: String(place) });
        if (rows.length === 0) break;
      }
      expect(walked.doubled()).toEqual([]);
      expect(walked.missed(walked.there)).toEqual([]);
    }),
    { numRuns: Math.min(3, listed.walks ?? 3) },
  );
};

const walks = operations
  .filter(({ id }) => withoutWalk[id] === undefined)
  .flatMap((operation) => {
    const parameters = parametersOf(operation);
    const meanwhile = parameters.includes('cursor')
      ? ['cursor']
      : ['after'].filter((by) => parameters.includes(by));
    const atRest = Object.keys(placeOf).filter((by) => parameters.includes(by));
    return [
      ...meanwhile.map((by) => [operation.id, by, () => walkMeanwhile(operation, by)] as const),
      ...atRest.map((by) => [operation.id, by, () => walkAtRest(operation, by)] as const),
    ];
  });

describe('a walk through a list', () => {
  it('exists for every list operation', () => {
    const walked = new Set(walks.map(([id]) => id));
    expect([...walked, ...Object.keys(withoutWalk)].sort()).toEqual(
      operations.map(({ id }) => id).sort(),
    );
    expect(Object.keys(lists).sort()).toEqual([...walked].sort());
  });

  it.each(walks)(
    'returns every row that exists throughout the walk exactly once: %s by %s',
    (_, __, walk) => walk(),
  );
});

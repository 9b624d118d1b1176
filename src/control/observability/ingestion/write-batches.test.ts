import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppError } from '#domain/error.ts';
import { createGate, type Gate } from './write-batches.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const most = {
  atOnce: 3,
  ofProject: 1,
  beside: 2,
  besideMs: 10,
  together: 3,
  waiting: 6,
  waitingOfProject: 5,
  waitMs: 1_000,
  againMs: 100,
};

type Write = PromiseWithResolvers<void> & {
  projectId: string;
  items: readonly string[];
  isAgain: boolean;
};

/** Creates a gate whose writes end when the test ends them, and the list of those that began. */
const open = (given: Partial<typeof most> = {}, isNarrow = (): boolean => false) => {
  const writes: Write[] = [];
  const gate = createGate<string>(
    { ...most, ...given },
    {
      write: (projectId, items, { isAgain }) => {
        const write = { projectId, items, isAgain, ...Promise.withResolvers<void>() };
        writes.push(write);
        return write.promise;
      },
      sizeOf: ({ length }) => length,
      kindOf: (item) => item.startsWith('!'),
      isOfItems: (error) => !(error instanceof AppError) || error.code === 'invalid',
      isNarrow,
    },
  );
  const begun = () => writes.map(({ projectId, items }) => [projectId, ...items].join(' '));
  return { gate, writes, begun };
};

const settled = () => vi.advanceTimersByTimeAsync(0);

/** Passes the items and records the outcome of each as soon as it is known. */
const passAll = (gate: Gate<string>, projectId: string, items: readonly string[]) => {
  const became: Record<string, string> = {};
  for (const item of items) {
    gate.pass(projectId, item).then(
      () => {
        became[item] = 'written';
      },
      (error: Error) => {
        became[item] = error.message;
      },
    );
  }
  return became;
};

it('writes one request of a project at once, and what comes meanwhile together, in its order', async () => {
  const { gate, writes, begun } = open();
  const became = passAll(gate, 'one', ['a', 'b', 'c', 'd', 'e']);
  await settled();
  expect(begun()).toEqual(['one a']);
  writes[0]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d']);
  expect(became).toEqual({ a: 'written' });
  writes[1]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d', 'one e']);
  expect(became).toEqual({ a: 'written', b: 'written', c: 'written', d: 'written' });
  writes[2]?.resolve();
  await settled();
  expect(became.e).toBe('written');
  expect(gate.state()).toEqual({ underWay: 0, waiting: 0, refused: 0 });
});

it('writes what is larger than what is written together alone', async () => {
  const { gate, writes, begun } = open();
  passAll(gate, 'one', ['a', 'much', 'b', 'c']);
  await settled();
  for (const index of [0, 1, 2]) {
    writes[index]?.resolve();
    await settled();
  }
  expect(begun()).toEqual(['one a', 'one much', 'one b c']);
});

it('begins another write beside one that is under way once much waits, and after a moment else', async () => {
  const { gate, writes, begun } = open({ ofProject: 2 });
  passAll(gate, 'one', ['a', 'b']);
  await settled();
  expect(begun()).toEqual(['one a']);
  passAll(gate, 'one', ['c']);
  await settled();
  expect(begun()).toEqual(['one a', 'one b c']);
  writes[1]?.resolve();
  passAll(gate, 'one', ['d']);
  await settled();
  expect(begun()).toEqual(['one a', 'one b c']);
  await vi.advanceTimersByTimeAsync(most.besideMs);
  expect(begun()).toEqual(['one a', 'one b c', 'one d']);
  expect(gate.state()).toEqual({ underWay: 2, waiting: 0, refused: 0 });
});

it('lets no project keep the others from their writes, nor from waiting for them', async () => {
  const { gate, begun } = open({ ofProject: 2, beside: 1 });
  const flood = passAll(gate, 'flood', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  const quiet = passAll(gate, 'quiet', ['x', 'y']);
  await settled();
  expect(begun()).toEqual(['flood a', 'flood b', 'quiet x']);
  expect(gate.state()).toEqual({ underWay: 3, waiting: 6, refused: 1 });
  expect(flood).toEqual({ h: expect.stringContaining('too much is being ingested') });
  expect(quiet).toEqual({});
});

it('gives projects their writes in turn, however much one has waiting', async () => {
  const { gate, writes, begun } = open({ atOnce: 1 }, () => true);
  passAll(gate, 'flood', ['a', 'b', 'c']);
  passAll(gate, 'other', ['m', 'n']);
  passAll(gate, 'quiet', ['x']);
  for (let index = 0; index < 5; index += 1) {
    await settled();
    writes[index]?.resolve();
  }
  await settled();
  expect(begun()).toEqual(['flood a', 'other m', 'quiet x', 'flood b', 'other n', 'flood c']);
});

it('refuses the last of the project that has most of the room, when there is none for another', async () => {
  const { gate, begun } = open({ atOnce: 2 });
  const flood = passAll(gate, 'flood', ['a', 'b', 'c', 'd', 'e']);
  const other = passAll(gate, 'other', ['m', 'n', 'o']);
  await settled();
  const quiet = passAll(gate, 'quiet', ['x', 'y']);
  await settled();
  expect(begun()).toEqual(['flood a', 'other m']);
  const refusal = expect.stringContaining('too much is being ingested');
  expect([flood, other, quiet]).toEqual([{ d: refusal, e: refusal }, {}, {}]);
  const more = passAll(gate, 'other', ['p']);
  await settled();
  expect(more).toEqual({ p: refusal });
  expect(gate.state()).toEqual({ underWay: 2, waiting: 6, refused: 3 });
});

it('writes by halves what was refused together for what one of them said', async () => {
  const { gate, writes, begun } = open({ together: 4 });
  const became = passAll(gate, 'one', ['a', 'b', 'c', 'd', 'e']);
  const bad = new Error('the bad one');
  const outcomes = [null, new AppError('invalid', 'a value cannot be kept'), null, bad, bad, null];
  for (const [index, outcome] of outcomes.entries()) {
    await settled();
    if (outcome === null) writes[index]?.resolve();
    else writes[index]?.reject(outcome);
  }
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d e', 'one b c', 'one d e', 'one d', 'one e']);
  expect(writes.map(({ isAgain }) => isAgain)).toEqual([false, false, true, true, true, true]);
  const written = 'written';
  expect(became).toEqual({ a: written, b: written, c: written, d: 'the bad one', e: written });
  expect(gate.state()).toEqual({ underWay: 0, waiting: 0, refused: 0 });
});

it('refuses what is left of what is written by parts once that takes long', async () => {
  const { gate, writes, begun } = open();
  const became = passAll(gate, 'one', ['a', 'b', 'c', 'd']);
  await settled();
  writes[0]?.resolve();
  await settled();
  writes[1]?.reject(new AppError('invalid', 'no'));
  await settled();
  await vi.advanceTimersByTimeAsync(most.againMs + 1);
  writes[2]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'one b c d', 'one b']);
  const refusal = expect.stringContaining('too much is being ingested');
  expect(became).toEqual({ a: 'written', b: 'written', c: refusal, d: refusal });
  expect(gate.state()).toMatchObject({ underWay: 0, waiting: 0 });
});

it('writes together what is of one kind', async () => {
  const { gate, writes, begun } = open({ together: 10 });
  passAll(gate, 'one', ['a', 'b', 'c', '!d', '!e', 'f']);
  for (let index = 0; index < 3; index += 1) {
    await settled();
    writes[index]?.resolve();
  }
  await settled();
  expect(begun()).toEqual(['one a', 'one b c', 'one !d !e', 'one f']);
});

it('writes first for who had no turn for longest, also after it was refused', async () => {
  const { gate, writes, begun } = open({ atOnce: 1 }, () => true);
  passAll(gate, 'quiet', ['v']);
  passAll(gate, 'one', ['a']);
  await settled();
  writes[0]?.resolve();
  await settled();
  const quiet = passAll(gate, 'quiet', ['w']);
  await vi.advanceTimersByTimeAsync(most.waitMs);
  expect(quiet).toEqual({ w: expect.stringContaining('too much is being ingested') });
  passAll(gate, 'one', ['b']);
  passAll(gate, 'quiet', ['x']);
  await settled();
  writes[1]?.resolve();
  await settled();
  expect(begun()).toEqual(['quiet v', 'one a', 'quiet x']);
});

it('goes on with what waits once it is no longer narrow, without another request', async () => {
  let isNarrow = true;
  const { gate, begun } = open({}, () => isNarrow);
  passAll(gate, 'one', ['a']);
  passAll(gate, 'other', ['x']);
  await settled();
  expect(begun()).toEqual(['one a']);
  isNarrow = false;
  await vi.advanceTimersByTimeAsync(100);
  expect(begun()).toEqual(['one a', 'other x']);
});

it('refuses all of them where the database does not answer', async () => {
  const { gate, writes, begun } = open();
  const became = passAll(gate, 'one', ['a', 'b', 'c']);
  await settled();
  writes[0]?.resolve();
  await settled();
  writes[1]?.reject(new AppError('unavailable', 'no answer'));
  await settled();
  expect(begun()).toEqual(['one a', 'one b c']);
  expect(became).toEqual({ a: 'written', b: 'no answer', c: 'no answer' });
});

it('writes one request at a time while it is narrow, and as many as there is room for afterwards', async () => {
  let isNarrow = true;
  const { gate, writes, begun } = open({}, () => isNarrow);
  passAll(gate, 'one', ['a', 'b', 'c']);
  passAll(gate, 'other', ['x', 'y']);
  await settled();
  writes[0]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'other x']);
  isNarrow = false;
  writes[1]?.resolve();
  await settled();
  expect(begun()).toEqual(['one a', 'other x', 'one b c', 'other y']);
});

it('refuses what finds no room to wait, and what waited for too long', async () => {
  const { gate, writes, begun } = open({ waiting: 1 });
  const became = passAll(gate, 'one', ['a', 'b']);
  const other = passAll(gate, 'other', ['x']);
  await settled();
  const last = passAll(gate, 'one', ['c']);
  await settled();
  expect(last).toEqual({ c: expect.stringContaining('too much is being ingested') });
  await vi.advanceTimersByTimeAsync(most.waitMs);
  expect(became).toEqual({ b: expect.stringContaining('too much is being ingested') });
  expect(gate.state()).toEqual({ underWay: 2, waiting: 0, refused: 2 });
  for (const { resolve } of writes) resolve();
  await settled();
  expect({ ...became, ...other }).toMatchObject({ a: 'written', x: 'written' });
  const next = passAll(gate, 'one', ['d']);
  await settled();
  expect(begun()).toEqual(['one a', 'other x', 'one d']);
  writes[2]?.resolve();
  await settled();
  expect(next).toEqual({ d: 'written' });
});

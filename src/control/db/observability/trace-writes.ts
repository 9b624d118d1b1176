/**
 * Traces, written many at a time. All that a batch writes in are held first, in the order of their keys, so that
 * batches that write in the same wait for each other and never in a circle; what is new is inserted by that. Of those
 * that were there the row is read, merged in the program and written anew where that changed it. That is done once the
 * observations are written and it is known what they come to.
 */
import { type Counted, changesBetween, type DailyChange } from '#observability/daily.ts';
import { traceFields } from '#observability/object.ts';
import { mergeStates, type State } from '#observability/state.ts';
import { toStored } from '#observability/stored.ts';
import { type Addition, addAll, emptyTally, type Tally, writeTally } from '#observability/tally.ts';
import { type Queryable, statement } from '../core/database.ts';
import { arraysOf, takeStatement, updateStatement } from '../core/row-columns.ts';
import { isSame, type StateRow } from './stored-states.ts';
import { dashless } from './trace-keys.ts';
import {
  type CountedRow,
  countedColumns,
  countedRow,
  countedWrite,
  type TraceWrite,
  traceColumns,
  traceState,
  traceValues,
} from './trace-rows.ts';

/** A trace to write, by what a batch says of it. */
export type TraceChange = { id: string; state: State; isStray: boolean };

/** A trace that the transaction holds. */
export type HeldTrace = {
  week: number;
  /** What it was counted by; undefined for one that was inserted just now, with its observations counted. */
  before: Counted | undefined;
  /** And is, but for observations that are written after this. */
  after: Counted;
  /** What is to be written, where the batch changes what was there. */
  write: TraceWrite | undefined;
};

const takeTraces = takeStatement('take_traces', 'traces', traceColumns);
const updateTraces = updateStatement('update_traces', 'traces', traceColumns, ['key']);

const readStatement = statement(
  'read_traces',
  `select key, week, ${traceValues}, is_stray as "isStray", tally from traces where key = any($1::uuid[])`,
);

const placeStatement = statement(
  'place_traces',
  `select key, week, ${countedColumns}, began_is_given as "beganIsGiven", is_stray as "isStray" from traces
    where key = any($1::uuid[])`,
);

const tallyStatement = statement(
  'update_tallies',
  `update traces set tally = given.tally from unnest($1::uuid[], $2::text[]) as given(key, tally)
    where traces.key = given.key`,
);

type Changes = ReadonlyMap<string, TraceChange>;
type Held = Map<string, HeldTrace>;

/** Whether a trace was only heard of: an observation names it and says nothing else. */
const isShallow = ({ state, isStray }: TraceChange): boolean =>
  !isStray &&
  state.at === null &&
  state.tags.length === 0 &&
  state.metadata.length === 0 &&
  Object.keys(state.values).length === 0;

/** Those that are only heard of, as long as they begin no earlier by it; their input and output are not read. */
const placeShallow = async (tx: Queryable, changes: Changes): Promise<Held> => {
  const keys = [...changes].filter(([, change]) => isShallow(change)).map(([key]) => key);
  if (keys.length === 0) return new Map();
  type Row = CountedRow & { key: string; week: number; beganIsGiven: boolean; isStray: boolean };
  const rows = await tx.query<Row>(placeStatement, [keys]);
  const placed = rows.flatMap((row): [string, HeldTrace][] => {
    const guessedAt = changes.get(dashless(row.key))?.state.guessedAt ?? Number.POSITIVE_INFINITY;
    const isEarlier = !row.beganIsGiven && guessedAt < row.beganAt.getTime();
    if (isEarlier || row.isStray) return [];
    const counted = countedRow(row);
    const held = { week: row.week, before: counted, after: counted, write: undefined };
    return [[dashless(row.key), held]];
  });
  return new Map(placed);
};

const mergeTraces = async (tx: Queryable, projectId: string, changes: Changes): Promise<Held> => {
  if (changes.size === 0) return new Map();
  type Row = StateRow & CountedRow & { key: string; week: number; isStray: boolean };
  const rows = await tx.query<Row>(readStatement, [[...changes.keys()]]);
  const merged = rows.flatMap((row): [string, HeldTrace][] => {
    const [key, week] = [dashless(row.key), row.week];
    const change = changes.get(key);
    if (change === undefined) return [];
    const known = traceState(row);
    const stored = toStored(mergeStates(known, change.state), traceFields);
    const isStray = row.isStray && change.isStray;
    const isKept = isStray === row.isStray && isSame(toStored(known, traceFields), stored);
    const before = countedRow(row);
    const write = { projectId, key, id: change.id, week, stored, isStray, tally: before.tally };
    const after = countedWrite(write);
    return [[key, { week, before, after, write: isKept ? undefined : write }]];
  });
  return new Map(merged);
};

const without = (changes: Changes, held: Held): Changes =>
  new Map([...changes].filter(([key]) => !held.has(key)));

/**
 * Takes hold of all traces of a batch, each by its key; those that are new are inserted, with the tallies of their
 * observations, into `week`.
 */
export const holdTraces = async (
  tx: Queryable,
  projectId: string,
  changes: Changes,
  tallies: ReadonlyMap<string, Tally>,
  week: number,
): Promise<Held> => {
  const writes = [...changes].map(([key, { id, state, isStray }]): TraceWrite => {
    const stored = toStored(state, traceFields);
    return { projectId, key, id, week, stored, isStray, tally: tallies.get(key) ?? emptyTally };
  });
  const taken = await tx.query<{ key: string }>(takeTraces, arraysOf(traceColumns, writes));
  const keys = new Set(taken.map(({ key }) => dashless(key)));
  const held: Held = new Map();
  for (const write of writes) {
    if (!keys.has(write.key)) continue;
    held.set(write.key, { week, before: undefined, after: countedWrite(write), write: undefined });
  }
  const there = without(changes, held);
  const placed = await placeShallow(tx, there);
  const merged = await mergeTraces(tx, projectId, without(there, placed));
  return new Map([...held, ...placed, ...merged]);
};

/** Writes what changed in traces that were there, by the batch itself and by `additions`; returns what that changes. */
export const finishTraces = async (
  tx: Queryable,
  held: ReadonlyMap<string, HeldTrace>,
  additions: ReadonlyMap<string, readonly Addition[]>,
): Promise<DailyChange[]> => {
  const writes: TraceWrite[] = [];
  const tallied: [string, string | null][] = [];
  const changes: DailyChange[] = [];
  for (const [key, { before, after, write }] of held) {
    const added = additions.get(key) ?? [];
    const tally = addAll(after.tally, added);
    if (write !== undefined) writes.push({ ...write, tally });
    else if (added.length > 0) tallied.push([key, writeTally(tally)]);
    const isWritten = before === undefined || write !== undefined;
    const days = new Set(added.map((addition) => addition.key[0]));
    // Of a trace that stays as it was, the days of what is added are touched, and no others.
    const touched = changesBetween(before, { ...after, tally });
    changes.push(...(isWritten ? touched : touched.filter(({ day }) => days.has(day))));
  }
  if (writes.length > 0) await tx.query(updateTraces, arraysOf(traceColumns, writes));
  if (tallied.length > 0) {
    const [keys, tallies] = [tallied.map(([key]) => key), tallied.map(([, tally]) => tally)];
    await tx.query(tallyStatement, [keys, tallies]);
  }
  return changes;
};

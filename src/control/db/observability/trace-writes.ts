/**
 * Writes traces in bulk. First, all traces of a batch are inserted if they are new, otherwise locked, in the order of
 * their keys. So batches with the same traces wait for each other without deadlocks. Existing traces are read, merged
 * in the program, and updated if they changed. The update runs after the observations are written, when the sums of the
 * traces are known.
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

/** Trace to write, with the state that a batch reported. */
export type TraceChange = { id: string; state: State; isOrphan: boolean };

/** Trace that the transaction has locked. */
export type LockedTrace = {
  week: number;
  /**
   * Values that daily usage has counted before; undefined if the trace was just inserted. In that case its observations
   * are already counted.
   */
  before: Counted | undefined;
  /** Values that daily usage counts from now on, without observations that are written later. */
  after: Counted;
  /** Row to write if the batch changes the trace; otherwise undefined. */
  write: TraceWrite | undefined;
};

const takeTraces = takeStatement('take_traces', 'traces', traceColumns);
const updateTraces = updateStatement('update_traces', 'traces', traceColumns, ['key']);

const readStatement = statement(
  'read_traces',
  `select key, week, ${traceValues}, is_stray as "isOrphan", tally from traces where key = any($1::uuid[])`,
);

const placeStatement = statement(
  'place_traces',
  `select key, week, ${countedColumns}, began_is_given as "beganIsGiven", is_stray as "isOrphan" from traces
    where key = any($1::uuid[])`,
);

const tallyStatement = statement(
  'update_tallies',
  `update traces set tally = given.tally from unnest($1::uuid[], $2::text[]) as given(key, tally)
    where traces.key = given.key`,
);

type Changes = ReadonlyMap<string, TraceChange>;
type Locked = Map<string, LockedTrace>;

/** Returns true if observations only name the trace, and the batch reports nothing else about it. */
const isShallow = ({ state, isOrphan }: TraceChange): boolean =>
  !isOrphan &&
  state.at === null &&
  state.tags.length === 0 &&
  state.metadata.length === 0 &&
  Object.keys(state.values).length === 0;

/**
 * Reads the traces that the batch only names, without their input and output. Orphans, and traces whose start becomes
 * earlier, are left to `mergeTraces`.
 */
const lockShallow = async (tx: Queryable, changes: Changes): Promise<Locked> => {
  const keys = [...changes].filter(([, change]) => isShallow(change)).map(([key]) => key);
  if (keys.length === 0) return new Map();
  type Row = CountedRow & { key: string; week: number; beganIsGiven: boolean; isOrphan: boolean };
  const rows = await tx.query<Row>(placeStatement, [keys]);
  const shallow = rows.flatMap((row): [string, LockedTrace][] => {
    const guessedAt = changes.get(dashless(row.key))?.state.guessedAt ?? Number.POSITIVE_INFINITY;
    const isEarlier = !row.beganIsGiven && guessedAt < row.beganAt.getTime();
    if (isEarlier || row.isOrphan) return [];
    const counted = countedRow(row);
    const locked = { week: row.week, before: counted, after: counted, write: undefined };
    return [[dashless(row.key), locked]];
  });
  return new Map(shallow);
};

const mergeTraces = async (tx: Queryable, projectId: string, changes: Changes): Promise<Locked> => {
  if (changes.size === 0) return new Map();
  type Row = StateRow & CountedRow & { key: string; week: number; isOrphan: boolean };
  const rows = await tx.query<Row>(readStatement, [[...changes.keys()]]);
  const merged = rows.flatMap((row): [string, LockedTrace][] => {
    const [key, week] = [dashless(row.key), row.week];
    const change = changes.get(key);
    if (change === undefined) return [];
    const known = traceState(row);
    const stored = toStored(mergeStates(known, change.state), traceFields);
    const isOrphan = row.isOrphan && change.isOrphan;
    const isKept = isOrphan === row.isOrphan && isSame(toStored(known, traceFields), stored);
    const before = countedRow(row);
    const write = { projectId, key, id: change.id, week, stored, isOrphan, tally: before.tally };
    const after = countedWrite(write);
    return [[key, { week, before, after, write: isKept ? undefined : write }]];
  });
  return new Map(merged);
};

const without = (changes: Changes, locked: Locked): Changes =>
  new Map([...changes].filter(([key]) => !locked.has(key)));

/**
 * Locks all traces of a batch by their keys. New traces are inserted into the partition of `week`, with the tallies of
 * their observations.
 */
export const insertOrLockTraces = async (
  tx: Queryable,
  projectId: string,
  changes: Changes,
  tallies: ReadonlyMap<string, Tally>,
  week: number,
): Promise<Locked> => {
  const writes = [...changes].map(([key, { id, state, isOrphan }]): TraceWrite => {
    const stored = toStored(state, traceFields);
    return { projectId, key, id, week, stored, isOrphan, tally: tallies.get(key) ?? emptyTally };
  });
  const taken = await tx.query<{ key: string }>(takeTraces, arraysOf(traceColumns, writes));
  const keys = new Set(taken.map(({ key }) => dashless(key)));
  const locked: Locked = new Map();
  for (const write of writes) {
    if (!keys.has(write.key)) continue;
    locked.set(write.key, {
      week,
      before: undefined,
      after: countedWrite(write),
      write: undefined,
    });
  }
  const there = without(changes, locked);
  const shallow = await lockShallow(tx, there);
  const merged = await mergeTraces(tx, projectId, without(there, shallow));
  return new Map([...locked, ...shallow, ...merged]);
};

/**
 * Updates existing traces with the changes of the batch and with `additions`. Returns the changes to the daily usage.
 */
export const finishTraces = async (
  tx: Queryable,
  locked: ReadonlyMap<string, LockedTrace>,
  additions: ReadonlyMap<string, readonly Addition[]>,
): Promise<DailyChange[]> => {
  const writes: TraceWrite[] = [];
  const tallied: [string, string | null][] = [];
  const changes: DailyChange[] = [];
  for (const [key, { before, after, write }] of locked) {
    const added = additions.get(key) ?? [];
    const tally = addAll(after.tally, added);
    if (write !== undefined) writes.push({ ...write, tally });
    else if (added.length > 0) tallied.push([key, writeTally(tally)]);
    const isWritten = before === undefined || write !== undefined;
    const days = new Set(added.map((addition) => addition.key[0]));
    // If the trace itself is unchanged, only the days of the added observations count as changed.
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

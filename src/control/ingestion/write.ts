/** Writes what events say of traces and observations, in the transaction that it is given. */
import { changesBetween, type DailyChange } from '#observability/daily.ts';
import { usualEnvironment } from '#observability/environment.ts';
import type { Pricing } from '#observability/pricing.ts';
import { beganAt, fieldOf, mergeStates, type State } from '#observability/state.ts';
import { addAll, emptyTally } from '#observability/tally.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { findDeletions } from '../db/deleted-traces.ts';
import { observationWrite, priceableOf } from '../db/observation-rows.ts';
import {
  countsByTrace,
  findTracesOf,
  type ObservationChange,
  type PriceAll,
  writeObservations,
} from '../db/observation-writes.ts';
import { type Stray, takeStrays } from '../db/stray-traces.ts';
import { keyOf } from '../db/trace-keys.ts';
import { noteSessions } from '../db/trace-sessions.ts';
import { finishTraces, type HeldTrace, holdTraces, type TraceChange } from '../db/trace-writes.ts';
import type { PriceBook } from '../models/price-book.ts';
import { type Folded, type FoldedObservation, fold, type Told } from './fold.ts';

type Placed = FoldedObservation & { traceId: string; isStray: boolean };

/** Each observation with its trace: the one that is named, the one that it is in already, or one of its own. */
const place = async (
  tx: Queryable,
  projectId: string,
  observations: readonly FoldedObservation[],
): Promise<Placed[]> => {
  const unnamed = observations.filter(({ traceId }) => traceId === null).map(({ id }) => id);
  const known = await findTracesOf(tx, projectId, unnamed);
  return observations.map((one) => {
    const traceId = one.traceId ?? known.get(one.id);
    return traceId === undefined
      ? { ...one, traceId: one.id, isStray: true }
      : { ...one, traceId, isStray: false };
  });
};

/** What is said of a trace by an observation that is in it: that there is one. */
const shallow = (state: State): State => ({
  at: null,
  guessedAt: beganAt(state),
  values: {},
  tags: [],
  metadata: [],
});

const tracesToWrite = (
  projectId: string,
  traces: Folded['traces'],
  observations: readonly Placed[],
): Map<string, TraceChange> => {
  const changes = new Map<string, TraceChange>();
  for (const [id, state] of traces) {
    changes.set(keyOf(projectId, id), { id, state, isStray: false });
  }
  for (const { traceId, state, isStray } of observations) {
    const key = keyOf(projectId, traceId);
    const known = changes.get(key);
    const heard = shallow(state);
    changes.set(key, {
      id: traceId,
      state: known === undefined ? heard : mergeStates(known.state, heard),
      isStray: isStray && (known?.isStray ?? true),
    });
  }
  return changes;
};

const sessionsOf = (traces: Folded['traces']): Map<string, string> => {
  const sessions = new Map<string, string>();
  for (const state of traces.values()) {
    const id = fieldOf(state, 'sessionId');
    if (typeof id !== 'string' || id === '' || sessions.has(id)) continue;
    sessions.set(id, String(fieldOf(state, 'environment') ?? usualEnvironment));
  }
  return sessions;
};

/** What is said, but for what was said of traces before they were deleted. */
const withoutDeleted = async (
  tx: Queryable,
  projectId: string,
  told: readonly Told[],
): Promise<readonly Told[]> => {
  const traceOf = (one: Told) => (one.kind === 'trace' ? one.id : one.traceId);
  const ids = new Set(told.flatMap((one) => traceOf(one) ?? []));
  const deletions = await findDeletions(tx, projectId, [...ids]);
  if (deletions.size === 0) return told;
  return told.filter((one) => {
    const deletedAt = deletions.get(traceOf(one) ?? '');
    return deletedAt === undefined || one.state.guessedAt > deletedAt;
  });
};

type Joined = Placed & {
  /** The price that it has already, while what that follows from stays. */
  kept: Pricing | null;
};

/** Observations with what was known of them before their traces were named. */
const joinStrays = (placed: readonly Placed[], strays: ReadonlyMap<string, Stray>): Joined[] =>
  placed.map((one) => {
    const stray = strays.get(one.id);
    if (stray === undefined) return { ...one, kept: null };
    const state = mergeStates(stray.state, one.state);
    const isSame = JSON.stringify(priceableOf(stray.state)) === JSON.stringify(priceableOf(state));
    return { ...one, state, kept: isSame ? stray.pricing : null };
  });

/** In the week of its trace, where that was there already. */
const inWeek = (
  { write, state }: ObservationChange,
  held: ReadonlyMap<string, HeldTrace>,
): ObservationChange => {
  const week = held.get(write.traceKey)?.week ?? write.week;
  return week === write.week ? { write, state } : { write: { ...write, week }, state };
};

/** Writes it all; `week` is that in which new traces are kept. Returns what changes by it for the project. */
export const writeTold = async (
  tx: Transaction,
  prices: PriceBook,
  projectId: string,
  given: readonly Told[],
  week: number,
): Promise<DailyChange[]> => {
  const told = given.length === 0 ? given : await withoutDeleted(tx, projectId, given);
  if (told.length === 0) return [];
  const folded = fold(told);
  const placed = await place(tx, projectId, folded.observations);
  const named = placed.filter(({ isStray }) => !isStray).map(({ id }) => id);
  const { states, gone } = await takeStrays(tx, projectId, named);
  const priceAll: PriceAll = (all) => prices.price(tx, projectId, all.map(priceableOf));
  const joined = joinStrays(placed, states);
  const pricings = await priceAll(joined.map(({ state }) => state));
  const observations = joined.map(({ id, traceId, state, kept }, index): ObservationChange => {
    const pricing = kept ?? pricings[index] ?? null;
    const place = { projectId, id, traceId, week };
    return { state, write: observationWrite(place, state, pricing) };
  });
  const counts = countsByTrace(observations.map(({ write }) => write));
  const tallies = new Map([...counts].map(([key, added]) => [key, addAll(emptyTally, added)]));
  const changes = tracesToWrite(projectId, folded.traces, placed);
  const held = await holdTraces(tx, projectId, changes, tallies, week);
  const isNew = (key: string): boolean => held.get(key)?.before === undefined;
  const inWeeks = observations.map((one) => inWeek(one, held));
  const additions = await writeObservations(tx, inWeeks, isNew, priceAll);
  const changed = await finishTraces(tx, held, additions);
  await noteSessions(tx, projectId, sessionsOf(folded.traces));
  return [...gone.flatMap((trace) => changesBetween(trace, undefined)), ...changed];
};

/** Writes reports about traces and observations, in the given transaction. */
import { changesBetween, type DailyChange } from '#observability/daily.ts';
import { usualEnvironment } from '#observability/environment.ts';
import { isPricedSame, type Pricing } from '#observability/pricing.ts';
import { beganAt, fieldOf, mergeStates } from '#observability/state.ts';
import { addAll, emptyTally } from '#observability/tally.ts';
import type { Queryable, Transaction } from '../../db/core/database.ts';
import { type Prefetched, prefetch } from '../../db/observability/batch-prefetch.ts';
import { observationWrite, priceableOf } from '../../db/observability/observation-rows.ts';
import {
  countsByTrace,
  findTracesOf,
  type ObservationChange,
  type PriceAll,
  writeObservations,
} from '../../db/observability/observation-writes.ts';
import { type Orphan, takeOrphans } from '../../db/observability/orphan-traces.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { noteSessions } from '../../db/observability/trace-sessions.ts';
import {
  finishTraces,
  type HeldTrace,
  holdTraces,
  type TraceChange,
} from '../../db/observability/trace-writes.ts';
import type { ProjectPrices } from '../models/price-book.ts';
import { type Folded, type FoldedObservation, fold, type Told } from './fold.ts';

type Placed = FoldedObservation & {
  key: string;
  traceId: string;
  traceKey: string;
  isStray: boolean;
};

/** Database keys of the ids in a batch, each computed once. */
type Keys = (id: string) => string;

const createKeys = (projectId: string): Keys => {
  const known = new Map<string, string>();
  return (id) => {
    const key = known.get(id) ?? keyOf(projectId, id);
    known.set(id, key);
    return key;
  };
};

/** Assigns each observation to its trace: the one it names, the one it is already in, or one of its own. */
const place = async (
  tx: Queryable,
  projectId: string,
  observations: readonly FoldedObservation[],
  { strays }: Prefetched,
  keys: Keys,
): Promise<Placed[]> => {
  const unnamed = observations.filter(({ traceId }) => traceId === null).map(({ id }) => id);
  const known = await findTracesOf(tx, projectId, unnamed);
  return observations.map(({ id, state, traceId }) => {
    const named = traceId ?? known.get(id);
    const inTrace = named ?? id;
    const [key, traceKey] = [keys(id), keys(inTrace)];
    const isStray = traceId === null && (named === undefined || strays.has(key));
    return { id, key, state, traceId: inTrace, traceKey, isStray };
  });
};

/** Facts that an observation implies about its trace: that it exists, and its earliest known start. */
type Heard = { id: string; guessedAt: number; isStray: boolean };

const heardOf = (observations: readonly Placed[]): Map<string, Heard> => {
  const heard = new Map<string, Heard>();
  for (const { traceId, traceKey, state, isStray } of observations) {
    const known = heard.get(traceKey);
    const guessedAt = beganAt(state);
    if (known === undefined) {
      heard.set(traceKey, { id: traceId, guessedAt, isStray });
      continue;
    }
    known.guessedAt = Math.min(known.guessedAt, guessedAt);
    known.isStray &&= isStray;
  }
  return heard;
};

const tracesToWrite = (
  traces: Folded['traces'],
  observations: readonly Placed[],
  keys: Keys,
): Map<string, TraceChange> => {
  const changes = new Map<string, TraceChange>();
  for (const [id, state] of traces) changes.set(keys(id), { id, state, isStray: false });
  for (const [key, { id, guessedAt, isStray }] of heardOf(observations)) {
    const known = changes.get(key);
    const heard = { at: null, guessedAt, values: {}, tags: [], metadata: [] };
    changes.set(key, {
      id,
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

const traceOf = (one: Told): string | null => (one.kind === 'trace' ? one.id : one.traceId);

/** Prefetches the stored state of the objects that the reports concern. */
const lookAround = (tx: Queryable, told: readonly Told[], keys: Keys): Promise<Prefetched> => {
  const [traces, observations] = [new Set<string>(), new Set<string>()];
  for (const one of told) {
    const traceId = traceOf(one);
    if (traceId !== null) traces.add(keys(traceId));
    if (one.kind === 'observation') observations.add(keys(one.id));
  }
  return prefetch(tx, [...traces], [...observations]);
};

/** Returns the reports without those that are older than the deletion of their trace. */
const withoutDeleted = (
  told: readonly Told[],
  { deletions }: Prefetched,
  keys: Keys,
): readonly Told[] => {
  if (deletions.size === 0) return told;
  return told.filter((one) => {
    const traceId = traceOf(one);
    const deletedAt = traceId === null ? undefined : deletions.get(keys(traceId));
    return deletedAt === undefined || one.state.guessedAt > deletedAt;
  });
};

type Joined = Placed & {
  /** Price stored before, if all that it depends on is unchanged. */
  kept: Pricing | null;
};

/** Merges observations with their orphans: the state stored before their trace was known. */
const joinStrays = (placed: readonly Placed[], strays: ReadonlyMap<string, Orphan>): Joined[] =>
  placed.map((one) => {
    const stray = strays.get(one.id);
    if (stray === undefined) return { ...one, kept: null };
    const state = mergeStates(stray.state, one.state);
    const isSame = isPricedSame(stray.pricing, priceableOf(stray.state), priceableOf(state));
    return { ...one, state, kept: isSame ? stray.pricing : null };
  });

/** Moves an observation to the weekly partition of its trace if the trace already existed. */
const inWeek = (
  { write, state }: ObservationChange,
  held: ReadonlyMap<string, HeldTrace>,
): ObservationChange => {
  const week = held.get(write.traceKey)?.week ?? write.week;
  return week === write.week ? { write, state } : { write: { ...write, week }, state };
};

/** Writes all reports; new traces go to the partition of `week`. Returns the changes of the project's daily usage. */
export const writeTold = async (
  tx: Transaction,
  prices: ProjectPrices,
  projectId: string,
  given: readonly Told[],
  week: number,
): Promise<DailyChange[]> => {
  if (given.length === 0) return [];
  const keys = createKeys(projectId);
  const around = await lookAround(tx, given, keys);
  const told = withoutDeleted(given, around, keys);
  if (told.length === 0) return [];
  const folded = fold(told);
  const placed = await place(tx, projectId, folded.observations, around, keys);
  const isToTake = ({ key, isStray }: Placed): boolean => !isStray && around.strays.has(key);
  const wanted = new Set(placed.filter(isToTake).map(({ key }) => key));
  const { states, gone } = await takeOrphans(tx, [...wanted]);
  const priceAll: PriceAll = (all) => prices(tx, all.map(priceableOf));
  const joined = joinStrays(placed, states);
  const pricings = await priceAll(joined.map(({ state }) => state));
  const observations = joined.map((one, index): ObservationChange => {
    const { id, key, traceId, traceKey, state, kept } = one;
    const place = { projectId, id, key, traceId, traceKey, week };
    return { state, write: observationWrite(place, state, kept ?? pricings[index] ?? null) };
  });
  const counts = countsByTrace(observations.map(({ write }) => write));
  const tallies = new Map([...counts].map(([key, added]) => [key, addAll(emptyTally, added)]));
  const changes = tracesToWrite(folded.traces, placed, keys);
  const held = await holdTraces(tx, projectId, changes, tallies, week);
  const isNew = (key: string): boolean => held.get(key)?.before === undefined;
  const inWeeks = observations.map((one) => inWeek(one, held));
  const additions = await writeObservations(tx, inWeeks, isNew, priceAll);
  const changed = await finishTraces(tx, held, additions);
  await noteSessions(tx, projectId, sessionsOf(folded.traces));
  return [...gone.flatMap((trace) => changesBetween(trace, undefined)), ...changed];
};

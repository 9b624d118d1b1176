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
import { type Orphan, removeOrphans } from '../../db/observability/orphan-traces.ts';
import { keyOf } from '../../db/observability/trace-keys.ts';
import { insertTraceSessions } from '../../db/observability/trace-sessions.ts';
import {
  finishTraces,
  insertOrLockTraces,
  type LockedTrace,
  type TraceChange,
} from '../../db/observability/trace-writes.ts';
import type { ProjectPrices } from '../models/price-book.ts';
import { type Folded, type FoldedObservation, fold, type Report } from './fold.ts';

type Assigned = FoldedObservation & {
  key: string;
  traceId: string;
  traceKey: string;
  isOrphan: boolean;
};

/** Returns the database key of an id; the key of each id in a batch is computed once. */
type Keys = (id: string) => string;

const createKeys = (projectId: string): Keys => {
  const known = new Map<string, string>();
  return (id) => {
    const key = known.get(id) ?? keyOf(projectId, id);
    known.set(id, key);
    return key;
  };
};

/**
 * Assigns each observation to a trace: to the trace that it names, to the trace that it is already in, or to a new
 * trace of its own.
 */
const assignTraces = async (
  tx: Queryable,
  projectId: string,
  observations: readonly FoldedObservation[],
  { orphans }: Prefetched,
  keys: Keys,
): Promise<Assigned[]> => {
  const unnamed = observations.filter(({ traceId }) => traceId === null).map(({ id }) => id);
  const known = await findTracesOf(tx, projectId, unnamed);
  return observations.map(({ id, state, traceId }) => {
    const named = traceId ?? known.get(id);
    const inTrace = named ?? id;
    const [key, traceKey] = [keys(id), keys(inTrace)];
    const isOrphan = traceId === null && (named === undefined || orphans.has(key));
    return { id, key, state, traceId: inTrace, traceKey, isOrphan };
  });
};

/** Facts that an observation implies about its trace: that it exists, and its earliest known start. */
type ImpliedTrace = { id: string; guessedAt: number; isOrphan: boolean };

const impliedTraces = (observations: readonly Assigned[]): Map<string, ImpliedTrace> => {
  const implied = new Map<string, ImpliedTrace>();
  for (const { traceId, traceKey, state, isOrphan } of observations) {
    const known = implied.get(traceKey);
    const guessedAt = beganAt(state);
    if (known === undefined) {
      implied.set(traceKey, { id: traceId, guessedAt, isOrphan });
      continue;
    }
    known.guessedAt = Math.min(known.guessedAt, guessedAt);
    known.isOrphan &&= isOrphan;
  }
  return implied;
};

const tracesToWrite = (
  traces: Folded['traces'],
  observations: readonly Assigned[],
  keys: Keys,
): Map<string, TraceChange> => {
  const changes = new Map<string, TraceChange>();
  for (const [id, state] of traces) changes.set(keys(id), { id, state, isOrphan: false });
  for (const [key, { id, guessedAt, isOrphan }] of impliedTraces(observations)) {
    const known = changes.get(key);
    const implied = { at: null, guessedAt, values: {}, tags: [], metadata: [] };
    changes.set(key, {
      id,
      state: known === undefined ? implied : mergeStates(known.state, implied),
      isOrphan: isOrphan && (known?.isOrphan ?? true),
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

const traceOf = (one: Report): string | null => (one.kind === 'trace' ? one.id : one.traceId);

/** Prefetches the stored state of the objects that the reports concern. */
const prefetchBatch = (
  tx: Queryable,
  reports: readonly Report[],
  keys: Keys,
): Promise<Prefetched> => {
  const [traces, observations] = [new Set<string>(), new Set<string>()];
  for (const one of reports) {
    const traceId = traceOf(one);
    if (traceId !== null) traces.add(keys(traceId));
    if (one.kind === 'observation') observations.add(keys(one.id));
  }
  return prefetch(tx, [...traces], [...observations]);
};

/** Returns the reports without those that precede the deletion of their trace. */
const withoutDeleted = (
  reports: readonly Report[],
  { deletions }: Prefetched,
  keys: Keys,
): readonly Report[] => {
  if (deletions.size === 0) return reports;
  return reports.filter((one) => {
    const traceId = traceOf(one);
    const deletedAt = traceId === null ? undefined : deletions.get(keys(traceId));
    return deletedAt === undefined || one.state.guessedAt > deletedAt;
  });
};

type Merged = Assigned & {
  /** Price that is already stored; null if something that the price depends on has changed. */
  keptPricing: Pricing | null;
};

/** Merges each observation with its orphan, which is the state that was stored before its trace was known. */
const mergeOrphans = (
  assigned: readonly Assigned[],
  orphans: ReadonlyMap<string, Orphan>,
): Merged[] =>
  assigned.map((one) => {
    const orphan = orphans.get(one.id);
    if (orphan === undefined) return { ...one, keptPricing: null };
    const state = mergeStates(orphan.state, one.state);
    const isSame = isPricedSame(orphan.pricing, priceableOf(orphan.state), priceableOf(state));
    return { ...one, state, keptPricing: isSame ? orphan.pricing : null };
  });

/** Moves an observation to the weekly partition of its trace if the trace already existed. */
const inWeek = (
  { write, state }: ObservationChange,
  locked: ReadonlyMap<string, LockedTrace>,
): ObservationChange => {
  const week = locked.get(write.traceKey)?.week ?? write.week;
  return week === write.week ? { write, state } : { write: { ...write, week }, state };
};

/** Writes all reports; new traces go to the partition of `week`. Returns the changes to the project's daily usage. */
export const writeReports = async (
  tx: Transaction,
  prices: ProjectPrices,
  projectId: string,
  given: readonly Report[],
  week: number,
): Promise<DailyChange[]> => {
  if (given.length === 0) return [];
  const keys = createKeys(projectId);
  const prefetched = await prefetchBatch(tx, given, keys);
  const reports = withoutDeleted(given, prefetched, keys);
  if (reports.length === 0) return [];
  const folded = fold(reports);
  const assigned = await assignTraces(tx, projectId, folded.observations, prefetched, keys);
  const isToMove = ({ key, isOrphan }: Assigned): boolean =>
    !isOrphan && prefetched.orphans.has(key);
  const wanted = new Set(assigned.filter(isToMove).map(({ key }) => key));
  const { states, gone } = await removeOrphans(tx, [...wanted]);
  const priceAll: PriceAll = (all) => prices(tx, all.map(priceableOf));
  const merged = mergeOrphans(assigned, states);
  const pricings = await priceAll(merged.map(({ state }) => state));
  const observations = merged.map((one, index): ObservationChange => {
    const { id, key, traceId, traceKey, state, keptPricing } = one;
    const place = { projectId, id, key, traceId, traceKey, week };
    return { state, write: observationWrite(place, state, keptPricing ?? pricings[index] ?? null) };
  });
  const counts = countsByTrace(observations.map(({ write }) => write));
  const tallies = new Map([...counts].map(([key, added]) => [key, addAll(emptyTally, added)]));
  const changes = tracesToWrite(folded.traces, assigned, keys);
  const locked = await insertOrLockTraces(tx, projectId, changes, tallies, week);
  const isNew = (key: string): boolean => locked.get(key)?.before === undefined;
  const inWeeks = observations.map((one) => inWeek(one, locked));
  const additions = await writeObservations(tx, inWeeks, isNew, priceAll);
  const changed = await finishTraces(tx, locked, additions);
  await insertTraceSessions(tx, projectId, sessionsOf(folded.traces));
  return [...gone.flatMap((trace) => changesBetween(trace, undefined)), ...changed];
};

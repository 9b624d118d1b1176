/** Writes what events say of traces and observations, in the transaction that it is given. */
import { usualEnvironment } from '#observability/environment.ts';
import { beganAt, fieldOf, mergeStates, type State } from '#observability/state.ts';
import type { Queryable } from '../db/database.ts';
import { keyOf } from '../db/trace-keys.ts';
import {
  findTracesOf,
  noteSessions,
  type TraceChange,
  takeStrays,
  writeObservations,
  writeTraces,
} from '../db/trace-writes.ts';
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

/** Writes it all; `week` is that in which new traces are kept. */
export const writeTold = async (
  tx: Queryable,
  projectId: string,
  told: readonly Told[],
  week: number,
): Promise<void> => {
  if (told.length === 0) return;
  const folded = fold(told);
  const placed = await place(tx, projectId, folded.observations);
  const named = placed.filter(({ isStray }) => !isStray).map(({ id }) => id);
  const strays = await takeStrays(tx, projectId, named);
  const changes = tracesToWrite(projectId, folded.traces, placed);
  const weeks = await writeTraces(tx, projectId, changes, week);
  const observations = placed.map(({ id, traceId, state }) => {
    const stray = strays.get(id);
    return {
      id,
      traceId,
      week: weeks.get(keyOf(projectId, traceId)) ?? week,
      state: stray === undefined ? state : mergeStates(stray, state),
    };
  });
  await writeObservations(tx, projectId, observations);
  await noteSessions(tx, projectId, sessionsOf(folded.traces));
};

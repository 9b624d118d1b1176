/** What a batch says, folded: each object once, with all that its events say of it. Pure. */
import { mergeStates, type State } from '#observability/state.ts';

/** What one event says of an object, its ids made where it named none. */
export type Told =
  | { kind: 'trace'; id: string; state: State }
  | { kind: 'observation'; id: string; traceId: string | null; state: State };

export type FoldedObservation = { id: string; traceId: string | null; state: State };

export type Folded = {
  traces: Map<string, State>;
  observations: FoldedObservation[];
};

const join = (known: State | undefined, state: State): State =>
  known === undefined ? state : mergeStates(known, state);

const isUnnamed = (one: Told): boolean => one.kind === 'observation' && one.traceId === null;

/** The trace that a batch has an observation in, by the observation's id; none where each names its trace itself. */
const namedTraces = (told: readonly Told[]): Map<string, string> => {
  const named = new Map<string, string>();
  if (!told.some(isUnnamed)) return named;
  for (const one of told) {
    if (one.kind !== 'observation' || one.traceId === null) continue;
    const known = named.get(one.id);
    // Whichever comes first: the lesser id, so that order makes no difference.
    if (known === undefined || one.traceId < known) named.set(one.id, one.traceId);
  }
  return named;
};

/** Folds what events say. An observation that names no trace is in the one that another event names for it. */
export const fold = (told: readonly Told[]): Folded => {
  const traces = new Map<string, State>();
  const observations = new Map<string, FoldedObservation>();
  const named = namedTraces(told);
  for (const one of told) {
    if (one.kind === 'trace') {
      traces.set(one.id, join(traces.get(one.id), one.state));
      continue;
    }
    const traceId = one.traceId ?? named.get(one.id) ?? null;
    // No id has this character (`cleanText`), and none is empty.
    const place = `${traceId ?? ''}\0${one.id}`;
    const state = join(observations.get(place)?.state, one.state);
    observations.set(place, { id: one.id, traceId, state });
  }
  return { traces, observations: [...observations.values()] };
};

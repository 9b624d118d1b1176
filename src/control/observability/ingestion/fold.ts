/** Folds the reports of a batch: all reports about one object are merged into one. Has no side effects. */
import { mergeStates, type State } from '#observability/state.ts';

/** Report of one event about one object. The object's id is generated if the event gave none. */
export type Report =
  | { kind: 'trace'; id: string; state: State }
  | { kind: 'observation'; id: string; traceId: string | null; state: State };

export type FoldedObservation = { id: string; traceId: string | null; state: State };

export type Folded = {
  traces: Map<string, State>;
  observations: FoldedObservation[];
};

const join = (known: State | undefined, state: State): State =>
  known === undefined ? state : mergeStates(known, state);

const isUnnamed = (one: Report): boolean => one.kind === 'observation' && one.traceId === null;

/**
 * Returns the trace of each observation whose trace is named by some event of the batch. The map is empty if every
 * event names its trace, because it is not needed then.
 */
const namedTraces = (reports: readonly Report[]): Map<string, string> => {
  const named = new Map<string, string>();
  if (!reports.some(isUnnamed)) return named;
  for (const one of reports) {
    if (one.kind !== 'observation' || one.traceId === null) continue;
    const known = named.get(one.id);
    // If several traces are named, the smaller id wins, so that the order of events makes no difference.
    if (known === undefined || one.traceId < known) named.set(one.id, one.traceId);
  }
  return named;
};

/**
 * Folds reports. If an event names no trace for its observation, the observation gets the trace that another event of
 * the batch names for it.
 */
export const fold = (reports: readonly Report[]): Folded => {
  const traces = new Map<string, State>();
  const observations = new Map<string, FoldedObservation>();
  const named = namedTraces(reports);
  for (const one of reports) {
    if (one.kind === 'trace') {
      traces.set(one.id, join(traces.get(one.id), one.state));
      continue;
    }
    const traceId = one.traceId ?? named.get(one.id) ?? null;
    // No id contains NUL (`cleanText`), and none is empty.
    const place = `${traceId ?? ''}\0${one.id}`;
    const state = join(observations.get(place)?.state, one.state);
    observations.set(place, { id: one.id, traceId, state });
  }
  return { traces, observations: [...observations.values()] };
};

/** Writes traces, spans and scores that each arrive in a request of their own, not in a batch of events. */
import { randomUUID } from 'node:crypto';
import { checkScore } from '#observability/check-score.ts';
import type { SpanStates } from '#observability/otlp/read-span.ts';
import { readTrace } from '#observability/read-object.ts';
import { readScore } from '#observability/read-score.ts';
import { type Body, Misfit, readId } from '#observability/read-value.ts';
import { findConfigs } from '../../db/observability/score-configs.ts';
import { invalidParameter } from '../../platform/lists/query.ts';
import type { Report } from './fold.ts';
import { type EventReports, storeReports, type TraceStore } from './store.ts';

/** Runs `read`; if it throws a `Misfit`, refuses the whole request with `invalid`. */
export const refusingMisfits = <Value>(read: () => Value): Value => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw invalidParameter(error.path.split('.'), error.message);
  }
};

const nowUs = (): number => Date.now() * 1_000;

/** Writes a trace; returns its id, generated if the body has none. */
export const putTrace = async (
  store: TraceStore,
  projectId: string,
  body: Body,
): Promise<string> => {
  const origin = { isUpdate: false, timeUs: nowUs(), position: 0 };
  const { id, state } = refusingMisfits(() => ({
    id: readId(body, 'id') ?? randomUUID(),
    state: readTrace(body, origin),
  }));
  await storeReports(store, projectId, [
    { dedupeKey: null, reports: [{ kind: 'trace', id, state }], scores: [] },
  ]);
  return id;
};

/** Writes spans as observations and traces; a repeated span changes nothing. */
export const putSpans = async (
  store: TraceStore,
  projectId: string,
  spans: readonly SpanStates[],
): Promise<void> => {
  if (spans.length === 0) return;
  const events = spans.map(({ id, traceId, observation, trace }): EventReports => {
    const reports: Report[] = [
      { kind: 'trace', id: traceId, state: trace },
      { kind: 'observation', id, traceId, state: observation },
    ];
    return { dedupeKey: null, reports, scores: [] };
  });
  await storeReports(store, projectId, events);
};

/** Validates and writes a score; returns its id, generated if the body has none. */
export const putScore = async (
  store: TraceStore,
  projectId: string,
  body: Body,
): Promise<string> => {
  const given = refusingMisfits(() => readScore(body));
  const ids = given.configId === null ? [] : [given.configId];
  const configs = await findConfigs(store.db, projectId, ids);
  const score = refusingMisfits(() => checkScore(given, configs.get(given.configId ?? '')));
  const id = given.id ?? randomUUID();
  const scoredAt = given.timestamp ?? Date.now();
  const scores = [{ id, reportedAt: nowUs(), scoredAt, score }];
  await storeReports(store, projectId, [{ dedupeKey: null, reports: [], scores }]);
  return id;
};

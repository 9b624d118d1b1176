/**
 * Ingests a batch of events. Each event is accepted or refused individually. Accepted events are written in one
 * transaction and can be read once the answer is sent. A repeated event has no effect.
 */
import { randomUUID } from 'node:crypto';
import { checkScore } from '#observability/check-score.ts';
import type { EventContent, EventProblem, ReadEvent } from '#observability/read-batch.ts';
import { Misfit } from '#observability/read-value.ts';
import type { GivenScore, Score } from '#observability/score.ts';
import type { Log } from '#runtime/log.ts';
import type { Database } from '../../db/core/database.ts';
import { findConfigs } from '../../db/observability/score-configs.ts';
import type { ScoreWrite } from '../../db/observability/scores.ts';
import { asOverload } from './overload.ts';
import { type EventReports, storeReports, type TraceStore } from './store.ts';

export type Ingested = {
  successes: { id: string; status: number }[];
  errors: ({ id: string } & EventProblem)[];
};

/** Returns true if a client with the public key alone may send the event. */
const isOpenToAll = ({ kind }: EventContent): boolean => kind === 'score' || kind === 'log';

const scopeProblem: EventProblem = {
  status: 401,
  message: 'Authentication error',
  error: 'the public key alone may send scores; this event needs the key pair',
};

const misfitProblem = ({ path, message }: Misfit): EventProblem => ({
  status: 400,
  message: 'Invalid request data',
  error: `body.${path} ${message}`,
});

/** Result of the validation of each score: the valid score, or why it is invalid. */
type Checked = ReadonlyMap<GivenScore, Score | EventProblem>;

const checkScores = async (
  db: Database,
  projectId: string,
  given: readonly GivenScore[],
): Promise<Checked> => {
  const ids = given.flatMap(({ configId }) => configId ?? []);
  const configs = await findConfigs(db, projectId, [...new Set(ids)]);
  const checkOne = (score: GivenScore): Score | EventProblem => {
    try {
      return checkScore(score, configs.get(score.configId ?? ''));
    } catch (error) {
      if (error instanceof Misfit) return misfitProblem(error);
      throw error;
    }
  };
  return new Map(given.map((score) => [score, checkOne(score)]));
};

const isProblem = (checked: object): checked is EventProblem => 'status' in checked;

const scoreWrite = (given: GivenScore, timeUs: number, score: Score): ScoreWrite => ({
  id: given.id ?? randomUUID(),
  reportedAt: timeUs,
  scoredAt: given.timestamp ?? Math.floor(timeUs / 1_000),
  score,
});

type Level = 'secret' | 'public';

/**
 * Result for one event: the problem because of which the event is refused, or the event's reports; null if the event is
 * accepted but nothing of it is stored.
 */
type Judged = EventProblem | EventReports | null;

const judge = (event: ReadEvent, level: Level, checked: Checked): Judged => {
  if ('problem' in event) return event.problem;
  const { id, content } = event;
  if (level === 'public' && !isOpenToAll(content)) return scopeProblem;
  switch (content.kind) {
    case 'trace': {
      const dedupeKey = { id, about: content.id ?? id, madeAt: content.state.guessedAt };
      return { dedupeKey, reports: [{ ...content, id: content.id ?? randomUUID() }], scores: [] };
    }
    case 'observation': {
      const dedupeKey = {
        id,
        about: content.traceId ?? content.id ?? id,
        madeAt: content.state.guessedAt,
      };
      return { dedupeKey, reports: [{ ...content, id: content.id ?? randomUUID() }], scores: [] };
    }
    case 'score': {
      const { timeUs, score: given } = content;
      const score = checked.get(given);
      if (score === undefined) throw new Error(`the score of the event ${id} was not checked`);
      if (isProblem(score)) return score;
      const dedupeKey = { id, about: given.traceId ?? id, madeAt: Math.floor(timeUs / 1_000) };
      return { dedupeKey, reports: [], scores: [scoreWrite(given, timeUs, score)] };
    }
    case 'log':
      return null;
  }
};

/** Ingests the valid events of a batch. Throws `unavailable` if the batch is refused because of overload. */
export const ingest = async (
  store: TraceStore,
  caller: { projectId: string; level: Level },
  events: readonly ReadEvent[],
  log: Log,
): Promise<Ingested> => {
  const { projectId, level } = caller;
  const given = events.flatMap((event) =>
    'content' in event && event.content.kind === 'score' ? event.content.score : [],
  );
  const ingested: Ingested = { successes: [], errors: [] };
  const accepted: EventReports[] = [];
  let logs = 0;
  try {
    const checked = await checkScores(store.db, projectId, given);
    for (const event of events) {
      const { id } = event;
      const judged = judge(event, level, checked);
      if (judged === null) {
        logs += 1;
      } else if (isProblem(judged)) {
        ingested.errors.push({ id, ...judged });
      } else {
        accepted.push(judged);
        ingested.successes.push({ id, status: 201 });
      }
    }
    if (logs > 0) log.debug({ projectId, count: logs }, 'logs of clients');
    if (accepted.length > 0) await storeReports(store, projectId, accepted);
    return ingested;
  } catch (error) {
    throw asOverload(error);
  }
};

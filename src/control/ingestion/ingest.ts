/**
 * Ingestion of a batch of events. Each event is taken or refused by itself; what is taken is written in one
 * transaction, and can be read once that is answered. An event that was taken before does nothing.
 */
import { randomUUID } from 'node:crypto';
import { checkScore } from '#observability/check-score.ts';
import type { EventProblem, ReadEvent, Said } from '#observability/read-batch.ts';
import { Misfit } from '#observability/read-value.ts';
import type { GivenScore, Score } from '#observability/score.ts';
import type { Log } from '#runtime/log.ts';
import type { Database } from '../db/database.ts';
import { findConfigs } from '../db/score-configs.ts';
import type { ScoreWrite } from '../db/scores.ts';
import { type TakenEvent, takeEvents } from '../db/taken-events.ts';
import type { Told } from './fold.ts';
import { asOverload, type TraceStore, writeSaying } from './store.ts';

export type Ingested = {
  successes: { id: string; status: number }[];
  errors: ({ id: string } & EventProblem)[];
};

type Taken = { id: string; said: Said };

/** What a public key alone may send. */
const isOpenToAll = ({ kind }: Said): boolean => kind === 'score' || kind === 'log';

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

/** Scores held to their configs; by the place of their events. */
const checkScores = async (
  db: Database,
  projectId: string,
  events: readonly Taken[],
): Promise<Map<Taken, Score | EventProblem>> => {
  const given = events.flatMap((event): [Taken, GivenScore][] =>
    event.said.kind === 'score' ? [[event, event.said.score]] : [],
  );
  const ids = given.flatMap(([, { configId }]) => (configId === null ? [] : [configId]));
  const configs = await findConfigs(db, projectId, [...new Set(ids)]);
  const checkOne = (score: GivenScore): Score | EventProblem => {
    try {
      return checkScore(score, configs.get(score.configId ?? ''));
    } catch (error) {
      if (error instanceof Misfit) return misfitProblem(error);
      throw error;
    }
  };
  return new Map(given.map(([event, score]) => [event, checkOne(score)]));
};

const isProblem = (checked: Score | EventProblem): checked is EventProblem => 'status' in checked;

const toldBy = (events: readonly Taken[]): Told[] =>
  events.flatMap(({ said }): Told[] => {
    if (said.kind !== 'trace' && said.kind !== 'observation') return [];
    return [{ ...said, id: said.id ?? randomUUID() }];
  });

const scoresBy = (
  events: readonly Taken[],
  checked: ReadonlyMap<Taken, Score | EventProblem>,
): ScoreWrite[] =>
  events.flatMap((event) => {
    const score = checked.get(event);
    if (event.said.kind !== 'score' || score === undefined || isProblem(score)) return [];
    const { timeUs, score: given } = event.said;
    const scoredAt = given.timestamp ?? Math.floor(timeUs / 1_000);
    return [{ id: given.id ?? randomUUID(), saidAt: timeUs, scoredAt, score }];
  });

const logSdk = (events: readonly Taken[], projectId: string, log: Log): void => {
  const count = events.filter(({ said }) => said.kind === 'log').length;
  if (count > 0) log.debug({ projectId, count }, 'logs of clients');
};

/** An event as it is remembered. */
const takenOf = ({ id, said }: Taken): TakenEvent => {
  switch (said.kind) {
    case 'trace':
      return { id, about: said.id ?? id, madeAt: said.state.guessedAt };
    case 'observation':
      return { id, about: said.traceId ?? said.id ?? id, madeAt: said.state.guessedAt };
    case 'score':
      return { id, about: said.score.traceId ?? id, madeAt: Math.floor(said.timeUs / 1_000) };
    case 'log':
      return { id, about: id, madeAt: 0 };
  }
};

/** Writes the events that are new. */
const write = async (
  store: TraceStore,
  projectId: string,
  events: readonly Taken[],
  checked: ReadonlyMap<Taken, Score | EventProblem>,
): Promise<void> => {
  if (events.length === 0) return;
  const given = events.map((event) => ({ ...takenOf(event), event }));
  await writeSaying(store, projectId, toldBy(events), async (tx, week) => {
    const fresh = await takeEvents(tx, projectId, given, week);
    const first = fresh.map(({ event }) => event);
    return { told: toldBy(first), scores: scoresBy(first, checked), events: first.length };
  });
};

/** Takes what can be taken of a batch. Throws `unavailable` when nothing was, for want of room. */
export const ingest = async (
  store: TraceStore,
  caller: { projectId: string; level: 'secret' | 'public' },
  events: readonly ReadEvent[],
  log: Log,
): Promise<Ingested> => {
  const { projectId, level } = caller;
  const read = events.flatMap((event) => ('said' in event ? [event] : []));
  const mayBe = (event: Taken): boolean => level === 'secret' || isOpenToAll(event.said);
  const open = read.filter(mayBe);
  try {
    const checked = await checkScores(store.db, projectId, open);
    const problemOf = (event: ReadEvent): EventProblem | undefined => {
      if ('problem' in event) return event.problem;
      if (!mayBe(event)) return scopeProblem;
      const score = checked.get(event);
      return score !== undefined && isProblem(score) ? score : undefined;
    };
    const taken = open.filter((event) => problemOf(event) === undefined);
    logSdk(taken, projectId, log);
    const written = taken.filter(({ said }) => said.kind !== 'log');
    await write(store, projectId, written, checked);
    const ingested: Ingested = { successes: [], errors: [] };
    for (const event of events) {
      const problem = problemOf(event);
      if (problem !== undefined) ingested.errors.push({ id: event.id, ...problem });
      else if ('said' in event && event.said.kind !== 'log')
        ingested.successes.push({ id: event.id, status: 201 });
    }
    return ingested;
  } catch (error) {
    throw asOverload(error);
  }
};

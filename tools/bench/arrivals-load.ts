/**
 * The process that generates a load. It reads its instructions from standard input (`LoadJob`), executes them, and
 * writes its observations (`LoadResult`). The world that it opens is that of notes.
 */
import { text } from 'node:stream/consumers';
import { AppError, describeError } from '#domain/error.ts';
import { createClient } from '#wire/client.ts';
import { exchange } from '#wire/exchange.ts';
import { call, close, open } from '../../test/support/control/sessions.ts';
import type { LoadJob, LoadResult } from './arrivals.ts';

/** One arrival's work, which calls back at the two moments that are measured. */
type Journey = (ready: () => void, answered: () => void) => Promise<void>;

const expectState = (what: string, state: string, wanted: string): void => {
  if (state !== wanted) throw new Error(`${what} is ${state}`);
};

/**
 * Runs one session from open to close. Its call adds a row, which fails if the previous session left that row behind.
 */
const sessionJourney = ({ url, authorization }: LoadJob): Journey => {
  const client = createClient({ baseUrl: url, authorization });
  const input = { id: 1_001, folder_id: 1, title: 'a note', done: false };
  return async (ready, answered) => {
    const session = await open(client, { slug: 'notes', reuseWarm: true });
    ready();
    expectState(session.id, session.state, 'READY');
    const record = await call(client, session.id, { kind: 'tool', name: 'create_notes', input });
    answered();
    expectState(record.id, record.state, 'succeeded');
    const closed = await close(client, session.id, true);
    expectState(closed.id, closed.state, 'CLOSED');
  };
};

/** Makes the minimum number of exchanges that a session needs, one after another, each with a commit. */
const commitsJourney = ({ url, authorization }: LoadJob): Journey => {
  const commit = async (): Promise<void> => {
    const sent = { method: 'POST', headers: { authorization }, body: '{"n":1}' };
    const { status } = await exchange(url, sent);
    expectState('a commit', String(status), '200');
  };
  return async (ready, answered) => {
    await commit();
    await commit();
    ready();
    await commit();
    await commit();
    answered();
  };
};

const journeys = { session: sessionJourney, commits: commitsJourney };

const job = JSON.parse(await text(process.stdin)) as LoadJob;
const travel = journeys[job.journey](job);
const result: LoadResult = {
  readyMs: [],
  answeredMs: [],
  ready: [],
  refused: [],
  failures: [],
  cores: 0,
};

/** Returns true if the service refused for now, because too many requests came at once. */
const isRefused = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'exhausted';

const startsAt = performance.now();

const arrive = async (dueMs: number): Promise<void> => {
  const dueAt = startsAt + dueMs;
  const timed = () => ({ dueMs, tookMs: performance.now() - dueAt });
  try {
    await travel(
      () => {
        result.ready.push(timed());
        result.readyMs.push(performance.now() - dueAt);
      },
      () => result.answeredMs.push(performance.now() - dueAt),
    );
  } catch (error) {
    if (isRefused(error)) result.refused.push(timed());
    else result.failures.push(describeError(error));
  }
};

const cpuBefore = process.cpuUsage();
await Promise.all(
  job.offsetsMs.map(
    (offset) =>
      new Promise<void>((resolve) => {
        setTimeout(() => resolve(arrive(offset)), offset);
      }),
  ),
);
const { user, system } = process.cpuUsage(cpuBefore);
result.cores = (user + system) / 1_000 / (performance.now() - startsAt);
process.stdout.write(JSON.stringify(result));

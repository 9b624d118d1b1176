/** Load of the whole installation, which is read for metrics and for operators. */
import type { SessionState } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import { openCallStates, waiting } from '../core/states.ts';
import { browsersLoad } from './browsers.ts';

// A partial index of live rows serves each part, so the cost does not grow with the rows that have ended.
const loadStatement = statement(
  'load',
  `select (select coalesce(json_object_agg(state, count), '{}')
             from (select state, count(*)::int as count from sessions
                    where closed_at is null group by state) s) as sessions,
          w.waiting, w."longestWaitMs", ${browsersLoad} as browsers, c.queued, c.claimed, c."oldestQueuedMs", c."oldestClaimedMs"
     from (select count(*)::int as waiting,
                  coalesce(extract(epoch from now() - min(created_at)) * 1000, 0)::float8
                    as "longestWaitMs"
             from sessions s where ${waiting('s')}) w,
          (select count(*) filter (where state = 'queued')::int as queued,
                  count(*) filter (where state = 'claimed')::int as claimed,
                  coalesce(extract(epoch from now() - min(queued_at) filter (where state = 'queued'))
                    * 1000, 0)::float8 as "oldestQueuedMs",
                  coalesce(extract(epoch from now() - min(claimed_at) filter (where state = 'claimed'))
                    * 1000, 0)::float8 as "oldestClaimedMs"
             from calls where state in ${openCallStates}) c`,
);

/** Counts and ages; ages are in milliseconds by the database's clock, and 0 if there is nothing. */
export type Load = {
  /** Number of live sessions by state; states without sessions are missing. */
  sessions: Partial<Record<SessionState, number>>;
  /** Number of sessions that wait for a host, and the longest wait. */
  waiting: number;
  longestWaitMs: number;
  /**
   * Sessions that wait for a browser: their number, the longest wait, and the number of sessions that get no more
   * browsers.
   */
  browsers: { waiting: number; longestWaitMs: number; givenUp: number };
  /** Number of calls that no host has claimed, and number of calls that a host runs. */
  queued: number;
  claimed: number;
  oldestQueuedMs: number;
  oldestClaimedMs: number;
};

export const readLoad = async (db: Queryable): Promise<Load> => {
  const [row] = await db.query<Load>(loadStatement, []);
  if (row === undefined) throw new Error('the database returned no row for the load');
  return row;
};

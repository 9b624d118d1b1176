/**
 * Finds open sessions whose test run, proof or dataset run has ended. One statement ends the run, and another closes
 * its sessions. If the second statement did not run, the session stays open and is found here.
 */
import { type Queryable, statement } from '../core/database.ts';
import { openSessionStates } from '../core/states.ts';

const most = 50;

// The session of an item is the one that the item names, or one with the item's idempotency key that a worker has just
// opened for it.
const leftStatement = statement(
  'find_left_sessions',
  `select s.id, s.project_id as "projectId", s.run_id is not null as "isOfTests"
     from sessions s
    where s.closed_at is null and (s.run_id is not null or s.dataset_run_id is not null)
      and s.state in ${openSessionStates}
      and (s.run_id is null
           or not exists (select from world_runs r where r.id = s.run_id and r.state <> 'finished'))
      and (s.dataset_run_id is null
           or not exists (
             select from dataset_runs d
               join dataset_plays p on p.run_key = d.key
               join dataset_rollouts o on o.run_key = d.key
              where d.project_id = s.project_id and d.id = s.dataset_run_id
                and (o.state = 'OPEN' and o.session_id = s.id
                     or o.state = 'WAITING' and p.state = 'RUNNING'
                        and s.idempotency_key = 'dataset-run:' || o.run_key || ':' || o.item_key || ':' || o.attempt)))
    order by s.id limit ${most}`,
);

/** Session that is no longer needed, because its run has ended. */
export type LeftSession = {
  id: string;
  projectId: string;
  /** True for the session of a test run or a proof, false for the session of a dataset run. */
  isOfTests: boolean;
};

/** Returns up to 50 open sessions whose runs have ended or were deleted. */
export const findLeftSessions = (db: Queryable): Promise<LeftSession[]> =>
  db.query<LeftSession>(leftStatement, []);

/** Usage of the projects' quotas, as the database stores it. */
import type { Quotas } from '../../base/fairness/quotas.ts';
import { type Queryable, statement } from '../core/database.ts';

const takeStatement = statement(
  'take_calls',
  'select granted, most, left_ms as "leftMs" from take_calls($1, $2)',
);

/** Calls of a project granted in the current minute, which ends in `leftMs` milliseconds. `most` is the quota. */
type TakenCalls = { granted: number; most: number; leftMs: number };

/** Takes calls from the quota of the current minute. Grants 0 if the quota is used up. */
export const takeCalls = async (
  db: Queryable,
  projectId: string,
  usual: number,
): Promise<TakenCalls> => {
  const [row] = await db.query<TakenCalls>(takeStatement, [projectId, usual]);
  if (row === undefined)
    throw new Error(`the database returned no row for the call quota of ${projectId}`);
  return row;
};

// The usage of each quota is computed as in the statement that enforces it.
const nearlyStatement = statement(
  'projects_near_quota',
  `select o.slug || '/' || p.slug as project, u.quota, u.used::float8 as used, u.most
     from projects p join organizations o on o.id = p.organization_id
    cross join lateral (
      select 'sessions' as quota, coalesce(p.quota_sessions, :sessions::int) as most,
             (select count(*) from sessions s where s.project_id = p.id and s.closed_at is null) as used
      union all
      select 'calls_per_minute', coalesce(p.quota_calls_per_minute, :callsPerMinute::int),
             (select m.used from call_minutes m
               where m.project_id = p.id and m.minute = date_trunc('minute', now()))
      union all
      select 'queued_calls', coalesce(p.quota_queued_calls, :queuedCalls::int),
             (select sum(s.open_calls) from sessions s
               where s.project_id = p.id and s.closed_at is null)
      union all
      select 'worlds', coalesce(p.quota_worlds, :worlds::int),
             (select count(*) from worlds w where w.project_id = p.id and w.deleted_at is null)
      union all
      select 'blob_mib', coalesce(p.quota_blob_mib, :blobMib::int),
             (select sum(v.bytes) / 1048576 from versions v where v.project_id = p.id)
      union all
      select 'ledger_mib', coalesce(p.quota_ledger_mib, :ledgerMib::int),
             (select sum(l.bytes) / 1048576 from ledgers l where l.project_id = p.id and l.bytes > 0)
    ) u
    where u.used >= 0.9 * u.most
    order by u.used / u.most desc, 1, 2 limit 20`,
);

export type NearQuota = { project: string; quota: string; used: number; most: number };

/** Lists projects that use at least nine tenths of a quota, those closest to the quota first. */
export const findNearQuota = (db: Queryable, usual: Quotas): Promise<NearQuota[]> =>
  db.query<NearQuota>(nearlyStatement, usual);

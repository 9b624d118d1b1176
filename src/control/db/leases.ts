/** Leadership of an installation: one holder at a time, on the database's clock. */
import { type Queryable, statement } from './pool.ts';

const takeStatement = statement(
  'take_lease',
  `insert into leases (installation, holder, expires_at)
   values ($1, $2, now() + $3 * interval '1 millisecond')
   on conflict (installation) do update
      set holder = excluded.holder, expires_at = excluded.expires_at
    where leases.holder = excluded.holder or leases.expires_at <= now()
   returning holder`,
);

const giveUpStatement = statement(
  'give_up_lease',
  'delete from leases where installation = $1 and holder = $2',
);

export type LeaseRequest = { installation: string; holder: string; ttlMs: number };

/** Takes, renews or (with a `ttlMs` of 0) gives up a lease; true when the holder has it now. */
export const acquireLease = async (db: Queryable, lease: LeaseRequest): Promise<boolean> => {
  const { installation, holder, ttlMs } = lease;
  if (ttlMs === 0) {
    await db.query(giveUpStatement, [installation, holder]);
    return false;
  }
  const rows = await db.query(takeStatement, [installation, holder, ttlMs]);
  return rows.length > 0;
};

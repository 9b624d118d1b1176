/**
 * Leader election of an installation by a lease. Only one holder has the lease at a time, by the clock of the database.
 * Each new holder gets its own epoch, so that late requests of a former holder are recognized.
 */
import { AppError } from '#domain/error.ts';
import type { Lease } from '#wire/pool-api/operations.ts';
import { type Database, type Queryable, statement } from './database.ts';

const epochColumn = 'epoch::float8 as epoch';

const takeStatement = statement(
  'take_lease',
  `insert into leases (installation, holder, expires_at)
   values (:installation, :holder, now() + :ttlMs * interval '1 millisecond')
   on conflict (installation) do update
      set holder = excluded.holder, expires_at = excluded.expires_at, epoch = excluded.epoch
    where leases.expires_at <= now() or (:takeOver and leases.holder = excluded.holder)
   returning ${epochColumn}`,
);

const renewStatement = statement(
  'renew_lease',
  `update leases set expires_at = now() + :ttlMs * interval '1 millisecond'
    where installation = :installation and holder = :holder and epoch = :epoch
   returning ${epochColumn}`,
);

const giveUpStatement = statement(
  'give_up_lease',
  `delete from leases
    where installation = :installation and holder = :holder and (:epoch::bigint is null or epoch = :epoch)`,
);

/**
 * Request for a lease. With an `epoch`, the lease is renewed; without one, it is acquired; with a `ttlMs` of 0, it is
 * released. If `takeOver` is true, the holder may acquire its own lease again before the lease expires.
 */
export type LeaseRequest = {
  installation: string;
  holder: string;
  ttlMs: number;
  epoch?: number;
  takeOver?: boolean;
};

/**
 * Acquires, renews or releases a lease. Returns the epoch if the holder has the lease afterwards, otherwise undefined.
 */
export const acquireLease = async (
  db: Queryable,
  { installation, holder, ttlMs, epoch, takeOver = true }: LeaseRequest,
): Promise<number | undefined> => {
  if (ttlMs === 0) {
    await db.query(giveUpStatement, { installation, holder, epoch: epoch ?? null });
    return undefined;
  }
  const rows = await (epoch === undefined
    ? db.query<{ epoch: number }>(takeStatement, { installation, holder, ttlMs, takeOver })
    : db.query<{ epoch: number }>(renewStatement, { installation, holder, epoch, ttlMs }));
  return rows[0]?.epoch;
};

const refusedStatement = statement(
  'note_refused_configuration',
  `update leases set refused = :refused
    where installation = :installation and (:epoch::bigint is null or epoch = :epoch) and refused is distinct from :refused`,
);

/** Records why the leader rejected the configuration that it received last; null if it accepted the configuration. */
export const noteRefused = async (
  db: Queryable,
  installation: string,
  lease: Lease | undefined,
  refused: string | null,
): Promise<void> => {
  await db.query(refusedStatement, { installation, refused, epoch: lease?.epoch ?? null });
};

const keepStatement = statement(
  'keep_lease',
  'select true from leases where installation = :installation and holder = :holder and epoch = :epoch for share',
);

/**
 * Locks the row of the lease, so that no other holder can acquire the lease before the transaction ends. An expired
 * lease is still valid if no other holder has acquired it. Throws `forbidden` if the epoch of the lease has ended. Does
 * nothing if `lease` is undefined.
 */
const keepLease = async (tx: Queryable, lease: Lease | undefined): Promise<void> => {
  if (lease === undefined) return;
  const { installation, holder, epoch } = lease;
  const rows = await tx.query(keepStatement, lease);
  if (rows.length > 0) return;
  const message = `"${holder}" no longer leads installation "${installation}" with its lease ${epoch}: acquire the lease again`;
  throw new AppError('forbidden', message);
};

/** Returns the database for the holder of a lease: each transaction first checks and locks the lease. */
export const underLease = (db: Database, lease: Lease | undefined): Database => ({
  ...db,
  transaction: (work) =>
    db.transaction(async (tx) => {
      await keepLease(tx, lease);
      return work(tx);
    }),
});

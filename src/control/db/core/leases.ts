/**
 * Leadership of an installation: one holder at a time, on the database's clock. Each holder has an epoch
 * of its own, by which what a former one still has to say is told from what the present one says.
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
 * What is asked of a lease: with an `epoch` to renew that one, without to take it; with a `ttlMs` of 0 to
 * give it up. `takeOver` says whether a lease of the same holder is taken before it runs out.
 */
export type LeaseRequest = {
  installation: string;
  holder: string;
  ttlMs: number;
  epoch?: number;
  takeOver?: boolean;
};

/** Takes, renews or gives up a lease; the epoch of the one that the holder has now, if it has it. */
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

/** Notes why the leader does not take the configuration that it was last given; null: it does. */
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
 * Keeps a lease from being given to another until the transaction ends. One that has run out and that
 * nobody has taken is as good. Throws `forbidden` when its epoch is over. Without a lease, nothing is asked.
 */
const keepLease = async (tx: Queryable, lease: Lease | undefined): Promise<void> => {
  if (lease === undefined) return;
  const { installation, holder, epoch } = lease;
  const rows = await tx.query(keepStatement, lease);
  if (rows.length > 0) return;
  const message = `"${holder}" does not lead installation "${installation}" by its lease ${epoch} any more; it has to take the lease again`;
  throw new AppError('forbidden', message);
};

/** The database for one who acts under a lease: each of its transactions keeps that lease. */
export const underLease = (db: Database, lease: Lease | undefined): Database => ({
  ...db,
  transaction: (work) =>
    db.transaction(async (tx) => {
      await keepLease(tx, lease);
      return work(tx);
    }),
});

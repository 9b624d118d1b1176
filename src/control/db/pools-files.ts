/** The files of pools that orchestrators used last. */
import type { Lease } from '#wire/pool-api/operations.ts';
import { type Database, type Queryable, statement } from './database.ts';
import { underLease } from './leases.ts';

const keepStatement = statement(
  'keep_pools_file',
  `insert into pools_files (installation, content) values ($1, $2)
   on conflict (installation) do update set content = excluded.content, kept_at = now()`,
);

/** Keeps the file in place of the one before. Throws `forbidden` when the lease is over. */
export const keepPoolsFile = (
  db: Database,
  lease: Lease | undefined,
  installation: string,
  content: string,
): Promise<void> =>
  underLease(db, lease).transaction(async (tx) => {
    await tx.query(keepStatement, [installation, content]);
  });

const findStatement = statement(
  'find_pools_file',
  'select content from pools_files where installation = $1',
);

/** The file that was in use last; undefined when none was ever told. */
export const findPoolsFile = async (
  db: Queryable,
  installation: string,
): Promise<string | undefined> =>
  (await db.query<{ content: string }>(findStatement, [installation]))[0]?.content;

/** Sends notices to the other replicas, over the channel that `listen.ts` listens on. */
import { type Queryable, statement } from './database.ts';

export const noticeChannel = 'svc';

// A notice that a crash swallows costs time, and nothing else: its commit need not reach the disk.
const notifyStatement = statement(
  'notify',
  `select set_config('synchronous_commit', 'off', true), pg_notify('${noticeChannel}', payload)
     from unnest($1::text[]) as payload`,
);

export const sendNotices = async (db: Queryable, payloads: readonly string[]): Promise<void> => {
  await db.query(notifyStatement, [payloads]);
};

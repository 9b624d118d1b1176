/** Sends notices to the other replicas, over the channel that `listen.ts` listens on. */
import { type Queryable, statement } from './pool.ts';

export const noticeChannel = 'svc';

const notifyStatement = statement(
  'notify',
  `select pg_notify('${noticeChannel}', payload) from unnest($1::text[]) as payload`,
);

export const sendNotices = async (db: Queryable, payloads: readonly string[]): Promise<void> => {
  await db.query(notifyStatement, [payloads]);
};

/**
 * Notices that the database has been emptied under the program: its volume was lost, or its pod had none. What
 * the program holds in memory is then of projects and sessions that are no more, so it has to end; started
 * again, it does with the empty database what each start does with one.
 *
 * Only a database without any table is taken for emptied, at two looks in a row: one that is just being
 * restored from a copy has some.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { type Queryable, statement } from './database.ts';

const everyMs = 1_000;
/** Looks at which it has to be empty. */
const looks = 2;

const emptyStatement = statement(
  'is_empty',
  `select not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
   ) as empty`,
);

/** Whether the database has no table of anybody's. */
export const isEmptied = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ empty: boolean }>(emptyStatement, []))[0]?.empty === true;

export type SchemaWatch = {
  loop: Loop<'there' | 'emptied'>;
  /** Rejects when the database has been emptied. */
  lost: Promise<never>;
};

/** Starts looking. */
export const watchSchema = (db: Queryable, log: Log): SchemaWatch => {
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => undefined); // whoever runs the program awaits it; others need not
  let seen = 0;
  const tick = async () => {
    seen = (await isEmptied(db)) ? seen + 1 : 0;
    if (seen === looks) {
      const message = 'the database was emptied: what it held is gone; a start makes it anew';
      log.error({}, message);
      reject(new AppError('unavailable', message));
    }
    return seen === 0 ? 'there' : 'emptied';
  };
  return { loop: startLoop({ name: 'schema', everyMs, tick, log }), lost };
};

/**
 * Detects that the database was emptied while this program is running, because its volume was lost or its pod had none.
 * The state in memory then belongs to projects and sessions that no longer exist, so the program must end. After a
 * restart, it sets up the empty database like any other. The database counts as emptied only if two checks in a row
 * find no table at all. A database that is being restored from a backup has some tables.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { type Queryable, statement } from './database.ts';

const everyMs = 1_000;
/** Number of checks in a row that must find the database empty. */
const looks = 2;

const emptyStatement = statement(
  'is_empty',
  `select not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
   ) as empty`,
);

/** Returns true if the database has no table of any owner. */
export const isEmptied = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ empty: boolean }>(emptyStatement, []))[0]?.empty === true;

export type SchemaWatch = {
  loop: Loop<'there' | 'emptied'>;
  /** Rejects when the database has been emptied; never resolves. */
  lost: Promise<never>;
};

/** Starts the regular checks whether the database was emptied. */
export const watchSchema = (db: Queryable, log: Log): SchemaWatch => {
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => undefined); // only the program awaits it
  let seen = 0;
  const tick = async () => {
    seen = (await isEmptied(db)) ? seen + 1 : 0;
    if (seen === looks) {
      const message =
        'the database was emptied, and its data is gone; the next start creates the tables again';
      log.error({}, message);
      reject(new AppError('unavailable', message));
    }
    return seen === 0 ? 'there' : 'emptied';
  };
  return { loop: startLoop({ name: 'schema', everyMs, tick, log }), lost };
};

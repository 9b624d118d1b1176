/**
 * Creates partitions by week. The first write of a week creates the partitions of that week and the next, so no job has
 * to run while nothing is written.
 */
import type { Database } from '../core/database.ts';
import { replannedStatement, statement } from '../core/database.ts';
import { weekOf } from './trace-keys.ts';

/** Number of weeks for which events and deletions are stored: the week in which they arrived, and the week after it. */
const weeksRemembered = 2;

const lockStatement = statement(
  'lock_trace_weeks',
  `select pg_advisory_xact_lock(hashtext('trace weeks'))`,
);

const partition = (table: string, week: number) =>
  replannedStatement(
    `make_partition_of_${table}`,
    `create table if not exists ${table}_w${week} partition of ${table}
       for values from (${week}) to (${week + 1})`,
  );

/** Lists old partitions; includes those of `ingested_events`, to which the previous release still writes. */
const oldStatement = statement(
  'list_old_weeks',
  `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any(array['taken_events'::regclass, 'ingested_events'::regclass,
                                    'deleted_traces'::regclass])
      and substring(c.relname from '_w(\\d+)$')::integer <= $1`,
);

const makeWeeks = (db: Database, week: number): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query(lockStatement, []);
    for (const each of [week, week + 1]) {
      for (const table of ['observations', 'taken_events', 'deleted_traces']) {
        await tx.query(partition(table, each), []);
      }
    }
    const old = await tx.query<{ name: string }>(oldStatement, [week - weeksRemembered]);
    for (const { name } of old) {
      await tx.query(replannedStatement('drop_old_week', `drop table ${name}`), []);
    }
  });

export type TraceWeeks = {
  /** Returns the number of the current week. Before that, creates the partitions of the week if they do not exist. */
  current(): Promise<number>;
};

/** Creates the manager of partitions. It queries the database once a week in each process. */
export const createTraceWeeks = (db: Database, now: () => number = Date.now): TraceWeeks => {
  let made: { week: number; done: Promise<void> } | undefined;
  return {
    async current() {
      const week = weekOf(now());
      if (made?.week !== week) {
        const done = makeWeeks(db, week);
        made = { week, done };
        done.catch(() => {
          made = undefined;
        });
      }
      await made?.done;
      return week;
    },
  };
};

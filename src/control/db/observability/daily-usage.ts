/**
 * Usage of projects by day. Each transaction that writes traces also updates the sums. It also raises the change
 * counter (`touches`) of each day that it writes to, even if the sums stay the same.
 */
import { type DailyChange, dailyNames, joinChanges } from '#observability/daily.ts';
import { type Queryable, statement } from '../core/database.ts';
import { arraysOf, type Column, sourceOf } from '../core/row-columns.ts';
import { keyOf } from './trace-keys.ts';

/** Number of slots into which each sum is split, so that concurrent writers update different rows. */
export const usageSlots = 16;

/**
 * Slots of writers that may lock their rows for longer than other writers wait: deletions, and the traces of sessions.
 */
export const ownSlots = { deletion: -1, sessions: -2 } as const;

type Row = DailyChange & { projectId: string; slot: number; key: string };

const text = (name: string, type: string, of: (row: Row) => unknown): Column<Row> => ({
  name,
  type,
  of,
});

const inSql = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const sums: Column<Row>[] = dailyNames.map((name, index) =>
  text(inSql(name), 'numeric', (row) => String(row.sums[index])),
);

const columns: Column<Row>[] = [
  text('project_id', 'text', ({ projectId }) => projectId),
  text('day', 'date', ({ day }) => day),
  text('key', 'uuid', ({ key }) => key),
  text('slot', 'smallint', ({ slot }) => slot),
  text('trace_name', 'text', ({ traceName }) => traceName),
  text('environment', 'text', ({ environment }) => environment),
  text('model', 'text', ({ model }) => model),
  ...sums,
];

const names = columns.map(({ name }) => name).join(', ');

const after = (number: number): string => `$${columns.length + number}`;

const addStatement = statement(
  'add_daily_usage',
  `with marked as (
     insert into day_marks (project_id, day, slot, touches, touched_at, is_settled)
     select ${after(1)}, given.day, ${after(2)}, 1, now(), false from unnest(${after(3)}::date[]) as given(day) order by day
     on conflict (project_id, day, slot) do update
        set touches = day_marks.touches + 1, touched_at = excluded.touched_at, is_settled = false
   )
   insert into daily_usage (${names}) select ${names} from ${sourceOf(columns)}
    order by project_id, day, key
   on conflict (project_id, day, key, slot) do update
      set ${sums.map(({ name }) => `${name} = daily_usage.${name} + excluded.${name}`).join(', ')}`,
);

/**
 * Adds changes to the usage of a project, and raises the change counters of the days. `slot` is the slot of the writer.
 * The caller must do this last in its transaction, because it locks rows that other writers need.
 */
export const addDailyUsage = async (
  tx: Queryable,
  projectId: string,
  changes: readonly DailyChange[],
  slot: number,
): Promise<void> => {
  const rows = joinChanges(changes).map((change) => {
    const { traceName, environment, model } = change;
    const key = keyOf(projectId, JSON.stringify([traceName, environment, model]));
    return { ...change, projectId, slot, key };
  });
  const touched = changes.flatMap(({ environment, day }) => (environment === null ? [] : [day]));
  if (rows.length === 0 && touched.length === 0) return;
  const marks = [projectId, slot, [...new Set(touched)]];
  await tx.query(addStatement, [...arraysOf(columns, rows), ...marks]);
};

const limitStatement = statement(
  'find_event_limit',
  `select p.event_limit::float8 as "limit", case when p.event_limit is null then 0 else (
            select coalesce(sum(events), 0)::float8 from daily_usage u
             where u.project_id = p.id and u.key = $2::uuid
               and u.day >= date_trunc('month', now() at time zone 'utc')::date
          ) end as events
     from projects p where p.id = $1`,
);

/**
 * Returns the project's monthly limit on events (null if it has none), and the number of its events in the current
 * month, in UTC. Without a limit, `events` is 0.
 */
export const findEventLimit = async (
  db: Queryable,
  projectId: string,
): Promise<{ limit: number | null; events: number }> => {
  type Limit = { limit: number | null; events: number };
  const key = keyOf(projectId, JSON.stringify([null, null, null]));
  const [row] = await db.query<Limit>(limitStatement, [projectId, key]);
  return row ?? { limit: null, events: 0 };
};

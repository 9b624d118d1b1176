/** Trace sessions. Each is recorded when an event names it for the first time. */
import { type Database, type Queryable, statement } from '../core/database.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, conditioned, countUpTo } from '../core/where.ts';
import { keyOf } from './trace-keys.ts';

const sessionsStatement = statement(
  'insert_trace_sessions',
  `insert into trace_sessions (key, project_id, id, environment)
   select key, $1, id, environment from unnest($2::uuid[], $3::text[], $4::text[]) as s(key, id, environment)
    order by key
   on conflict do nothing`,
);

/** Inserts the sessions that do not exist yet, with the environment in which each first occurred. */
export const insertTraceSessions = async (
  tx: Queryable,
  projectId: string,
  environments: ReadonlyMap<string, string>,
): Promise<void> => {
  if (environments.size === 0) return;
  const ids = [...environments.keys()];
  const keys = ids.map((id) => keyOf(projectId, id));
  await tx.query(sessionsStatement, [projectId, keys, ids, [...environments.values()]]);
};

export type SessionRow = { key: string; id: string; environment: string; createdAt: Date };

const sessionColumns = 's.key, s.id, s.environment, s.created_at as "createdAt"';

/** Lists a page of sessions, newest first, and counts the matching sessions. Conditions refer to the session as `s`. */
export const listTraceSessions = async (
  db: Database,
  projectId: string,
  conditions: readonly Condition[],
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: SessionRow[]; count: Count }> => {
  const all: Condition[] = [(bind) => `s.project_id = ${bind(projectId)}`, ...conditions];
  const page = conditioned(
    'list_trace_sessions',
    (where, bind) =>
      `select ${sessionColumns} from trace_sessions s where ${where}
        order by s.created_at desc, s.key desc limit ${bind(limit)} offset ${bind(offset)}`,
    all,
  );
  const [rows, count] = await Promise.all([
    db.query<SessionRow>(page.statement, page.values),
    countUpTo(db, 'count_trace_sessions', 'trace_sessions s', all),
  ]);
  return { rows, count };
};

const sessionStatement = statement(
  'find_trace_session',
  `select ${sessionColumns} from trace_sessions s where s.key = $1`,
);

/** Returns the session with this id; undefined if there is none. */
export const findTraceSession = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<SessionRow | undefined> =>
  (await db.query<SessionRow>(sessionStatement, [keyOf(projectId, id)]))[0];

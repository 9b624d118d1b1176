/** Reported ends of the agent commands that were run for sessions. */
import type { AgentOutcome } from '#domain/agent-end.ts';
import { type Queryable, statement } from '../core/database.ts';

export type AgentEndRow = {
  sessionId: string;
  outcome: AgentOutcome;
  exitCode: number | null;
  signal: string | null;
  seconds: number;
  lastLines: string[];
  output: string;
  isCut: boolean;
  reportedAt: Date;
};

const columns = `a.session_id as "sessionId", a.outcome, a.exit_code as "exitCode", a.signal, a.seconds,
  a.last_lines as "lastLines", a.output, a.is_cut as "isCut", a.reported_at as "reportedAt"`;

const putStatement = statement(
  'put_agent_end',
  `insert into session_agents as a
     (session_id, outcome, exit_code, signal, seconds, last_lines, output, is_cut)
   select s.id, :outcome, :exitCode::integer, :signal, :seconds, :lastLines::text[], :output, :isCut
     from sessions s where s.id = :sessionId and s.project_id = :projectId
   on conflict (session_id) do update
      set outcome = excluded.outcome, exit_code = excluded.exit_code, signal = excluded.signal,
          seconds = excluded.seconds, last_lines = excluded.last_lines, output = excluded.output,
          is_cut = excluded.is_cut, reported_at = now()
   returning ${columns}`,
);

/**
 * Stores how the agent of a session ended, and replaces an earlier report. Returns undefined if the session does not
 * exist.
 */
export const putAgentEnd = async (
  db: Queryable,
  projectId: string,
  end: Omit<AgentEndRow, 'reportedAt'>,
): Promise<AgentEndRow | undefined> =>
  (await db.query<AgentEndRow>(putStatement, { ...end, projectId }))[0];

const findStatement = statement(
  'find_agent_end',
  `select ${columns} from session_agents a join sessions s on s.id = a.session_id
    where s.id = $1 and s.project_id = $2`,
);

/** Returns how the agent of a session ended; undefined if that was not reported. */
export const findAgentEnd = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
): Promise<AgentEndRow | undefined> =>
  (await db.query<AgentEndRow>(findStatement, [sessionId, projectId]))[0];

/**
 * SQL for the last grade of a session. It reads the grade by patterns, because the JSON functions of PostgreSQL fail on
 * some JSON in user data. A session has its verdict and score in columns, which the statements that record the answer
 * of a grade call set. Where sessions of an earlier release must count as well, the grade is read from its call.
 */
import { type Queryable, statement } from '../core/database.ts';

/** Pattern for the members that hosts write first. */
const head = `'^\\s*\\{\\s*"verdict"\\s*:\\s*"([a-z]+)"\\s*,\\s*"passed"\\s*:\\s*[a-z]+\\s*,\\s*"score"\\s*:\\s*(-?[\\d.]+(?:[eE][-+]?\\d+)?|null)'`;

const headOf = (output: string): string => `regexp_match(substring(${output} for 200), ${head})`;

/**
 * Builds assignments for an update of sessions. They set the verdict and the score if `call`, whose answer has just
 * arrived, is a grade.
 */
export const noteGrade = (call: string, session: string): string => {
  const grade = `(case when ${call}.kind = 'grade' and ${call}.state = 'succeeded' then ${headOf(`${call}.output::text`)} end)`;
  return `verdict = coalesce(${grade}[1], ${session}.verdict),
            score = case when ${grade} is null then ${session}.score else nullif(${grade}[2], 'null')::float8 end`;
};

/**
 * Join that adds the last grade as `g` to the session `s`: `head` with the verdict and the score, and the time of the
 * answer.
 */
export const lastGrade = `left join lateral (
    select ${headOf('c.output::text')} as head, c.answered_at
      from calls c where c.session_id = s.id and c.kind = 'grade' and c.state = 'succeeded'
     order by c.seq desc limit 1) g on true`;

/** Columns of the grade that `lastGrade` joins; both are null if there is none. */
export const gradeColumns = `g.head[1] as verdict, nullif(g.head[2], 'null')::float8 as score`;

/** Maximum number of sessions that one run of the backfill reads. */
const mostFilled = 1_000;

const fillStatement = statement(
  'fill_verdicts',
  `with fill as materialized (
     select after from verdict_fill for update skip locked
   ), next as materialized (
     select n.id from fill cross join lateral (
       select id from sessions where id > fill.after order by id limit ${mostFilled}) n
   ), filled as (
     update sessions s
        set verdict = coalesce(s.verdict, f.verdict), score = case when s.verdict is null then f.score else s.score end,
            agent_run_id = f.run_id, build_id = f.build_id
       from (select s.id, a.run_id, r.build_id, ${gradeColumns}
               from next join sessions s on s.id = next.id ${lastGrade}
               left join agent_rollouts a on a.session_id = s.id
               left join agent_runs r on r.project_id = a.project_id and r.id = a.run_id) f
      where s.id = f.id
        and (s.verdict is null and f.verdict is not null or s.build_id is null and f.build_id is not null)
   ), ended as (
     delete from verdict_fill where exists (select from fill) and not exists (select from next)
   )
   update verdict_fill set after = (select max(id) from next) where exists (select from next)`,
);

/** Backfills the last grade, the run and the build of some sessions that an earlier release wrote. */
export const fillVerdicts = async (db: Queryable): Promise<void> => {
  await db.query(fillStatement, []);
};

/** Sessions of an agent build, for comparing two builds. */
import { type Queryable, replannedStatement, statement } from '../core/database.ts';

export type ComparedSession = {
  id: string;
  world: string;
  /** Name of the session's task; for a stored task without a name, its id; null if the session has no task. */
  task: string | null;
  content: string | null;
  verdict: 'pass' | 'fail';
};

const listStatement = replannedStatement(
  'list_compared_sessions',
  `select * from (
     select s.id, coalesce(w.former_slug, w.slug) as world, coalesce(s.task_name, s.task_id) as task,
            s.task_hash as content, s.verdict, s.created_at
       from sessions s join worlds w on w.id = s.world_id
      where s.project_id = $1 and s.build_id = $2 and s.verdict in ('pass', 'fail')
      order by s.created_at desc, s.id desc limit $3) newest
    order by created_at, id`,
);

/** Lists the newest graded sessions of a build, up to `most`, in the order in which they were opened. */
export const listCompared = (
  db: Queryable,
  projectId: string,
  buildId: string,
  most: number,
): Promise<ComparedSession[]> =>
  db.query<ComparedSession>(listStatement, [projectId, buildId, most]);

const gradesStatement = statement(
  'read_compared_grades',
  `select s.id, c.output::text as "gradeJson"
     from unnest($1::text[]) as s(id) cross join lateral (
       select c.output from calls c where c.session_id = s.id and c.kind = 'grade' and c.state = 'succeeded'
        order by c.seq desc limit 1) c`,
);

/** Reads the last grade of each session, as JSON text. */
export const readGrades = (
  db: Queryable,
  ids: readonly string[],
): Promise<{ id: string; gradeJson: string }[]> =>
  db.query<{ id: string; gradeJson: string }>(gradesStatement, [ids]);

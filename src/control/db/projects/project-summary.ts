/** Counts the objects that a project contains. */
import { type Queryable, statement } from '../core/database.ts';

export type ProjectCounts = { worlds: number; openSessions: number; worldTasks: number };

const countStatement = statement(
  'count_project',
  `select
     (select count(*) from worlds where project_id = $1 and deleted_at is null)::int as worlds,
     (select count(*) from sessions where project_id = $1 and closed_at is null)::int as "openSessions",
     (select count(*) from world_tasks where project_id = $1)::int as "worldTasks"`,
);

/** Counts worlds, open sessions, and stored tasks of a project. */
export const countProject = async (db: Queryable, projectId: string): Promise<ProjectCounts> => {
  const [counts] = await db.query<ProjectCounts>(countStatement, [projectId]);
  if (counts === undefined)
    throw new Error('the database returned no row for the counts of a project');
  return counts;
};

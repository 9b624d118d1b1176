/** Dashboards: each shows a task set or a world, with optional code. The code is not read for lists. */
import { dashboardLimits } from '#domain/dashboard.ts';
import { type Queryable, statement } from '../core/database.ts';

export type DashboardRow = {
  id: string;
  projectId: string;
  name: string;
  description: string | null;
  taskSetId: string | null;
  worldId: string | null;
  hasCode: boolean;
  /** Version stamp of the code. Equal code has an equal stamp. */
  stamp: string;
  createdAt: Date;
  updatedAt: Date;
};

/** Code of a dashboard as JSON texts; null if it has none. */
export type CodeRow = { codeJson: string | null; builtJson: string | null };

const columns = `d.id, d.project_id as "projectId", d.name, d.description, d.task_set_id as "taskSetId",
  d.world_id as "worldId", d.code is not null as "hasCode", d.stamp, d.created_at as "createdAt",
  d.updated_at as "updatedAt"`;
const codeColumns = 'd.code as "codeJson", d.built as "builtJson"';

const findStatement = statement(
  'find_dashboard',
  `select ${columns}, ${codeColumns} from dashboards d where d.project_id = $1 and d.id = $2`,
);

/** Returns a dashboard with its code; undefined if there is none. */
export const findDashboard = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<(DashboardRow & CodeRow) | undefined> =>
  (await db.query<DashboardRow & CodeRow>(findStatement, [projectId, id]))[0];

const listStatement = statement(
  'list_dashboards',
  `select ${columns} from dashboards d where d.project_id = $1
    order by d.created_at desc, d.id desc limit $2`,
);

/** Lists the newest dashboards of the project. */
export const listDashboards = (
  db: Queryable,
  projectId: string,
  limit: number,
): Promise<DashboardRow[]> => db.query<DashboardRow>(listStatement, [projectId, limit]);

/** Unique index that a second dashboard with the same `Idempotency-Key` violates. */
export const dashboardKeyIndex = 'dashboards_idempotency';

const insertStatement = statement(
  'insert_dashboard',
  `insert into dashboards (id, project_id, name, description, task_set_id, world_id, code, built, stamp,
     idempotency_key, request_hash)
   select :id, :projectId, :name, :description, :taskSetId, :worldId, :codeJson, :builtJson, :stamp,
     :idempotencyKey, :requestHash
    where (select count(*) from dashboards where project_id = :projectId) < ${dashboardLimits.dashboards}
   returning id`,
);

export type NewDashboard = Omit<DashboardRow, 'hasCode' | 'createdAt' | 'updatedAt'> &
  CodeRow & { idempotencyKey: string | null; requestHash: string | null };

/** Inserts a dashboard. Returns false if the project has the maximum number of dashboards. */
export const insertDashboard = async (db: Queryable, made: NewDashboard): Promise<boolean> =>
  (await db.query(insertStatement, made)).length > 0;

const findByKeyStatement = statement(
  'find_dashboard_by_key',
  `select id, request_hash as "requestHash" from dashboards
    where project_id = $1 and idempotency_key = $2`,
);

/** Returns the dashboard that an earlier request with this `Idempotency-Key` created; undefined if there is none. */
export const findDashboardByKey = async (
  db: Queryable,
  projectId: string,
  key: string,
): Promise<{ id: string; requestHash: string } | undefined> =>
  (await db.query<{ id: string; requestHash: string }>(findByKeyStatement, [projectId, key]))[0];

const deleteStatement = statement(
  'delete_dashboard',
  'delete from dashboards where project_id = $1 and id = $2 returning id',
);

/** Deletes a dashboard. Returns false if there is none with this id. */
export const deleteDashboard = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<boolean> => (await db.query(deleteStatement, [projectId, id])).length > 0;

const writeStatement = statement(
  'write_dashboard_code',
  `update dashboards
      set code = :codeJson, built = :builtJson, stamp = :stamp, updated_at = date_trunc('milliseconds', now())
    where id = :id and project_id = :projectId and (:baseStamp::text is null or stamp = :baseStamp)
   returning id`,
);

export type NewCode = CodeRow & {
  projectId: string;
  id: string;
  stamp: string;
  /** Stamp that the stored code must have; null if the code is written in any case. */
  baseStamp: string | null;
};

/** Writes the code. Returns false if the stored code does not have the stamp `baseStamp`. */
export const writeDashboardCode = async (db: Queryable, code: NewCode): Promise<boolean> =>
  (await db.query(writeStatement, code)).length > 0;

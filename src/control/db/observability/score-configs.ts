/** Score configs: the constraints on scores with a given name. */
import type { ConfigContent } from '#observability/read-config.ts';
import type { ScoreConfig } from '#observability/score.ts';
import { type Queryable, statement } from '../core/database.ts';

export type StoredConfig = ScoreConfig & {
  projectId: string;
  description: string | null;
  createdAt: Date;
  updatedAt: Date;
};

type Row = Omit<StoredConfig, 'categories'> & { categoriesJson: string | null };

const columns = `id, project_id as "projectId", name, data_type as "dataType", is_archived as "isArchived",
  min_value as "minValue", max_value as "maxValue", categories as "categoriesJson", description,
  created_at as "createdAt", updated_at as "updatedAt"`;

const toConfig = ({ categoriesJson, ...row }: Row): StoredConfig => ({
  ...row,
  categories: categoriesJson === null ? null : JSON.parse(categoriesJson),
});

const findStatement = statement(
  'find_score_configs',
  `select ${columns} from score_configs where project_id = $1 and id = any($2::text[])`,
);

/** Returns configs of the project by their ids. Unknown ids are left out. */
export const findConfigs = async (
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, StoredConfig>> => {
  if (ids.length === 0) return new Map();
  const rows = await db.query<Row>(findStatement, [projectId, ids]);
  return new Map(rows.map((row) => [row.id, toConfig(row)]));
};

const listStatement = statement(
  'list_score_configs',
  `select ${columns} from score_configs where project_id = :projectId
    order by created_at desc, id desc limit :limit offset :offset`,
);
const countStatement = statement(
  'count_score_configs',
  'select count(*)::int as total from score_configs where project_id = $1',
);

/** Lists a page of the project's configs, newest first, and counts all of the project's configs. */
export const listConfigs = async (
  db: Queryable,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: StoredConfig[]; total: number }> => {
  const [rows, [count]] = await Promise.all([
    db.query<Row>(listStatement, { projectId, ...page }),
    db.query<{ total: number }>(countStatement, [projectId]),
  ]);
  return { rows: rows.map(toConfig), total: count?.total ?? 0 };
};

/** Maximum number of score configs of one project. */
export const mostConfigs = 10_000;

const insertStatement = statement(
  'insert_score_config',
  `insert into score_configs (id, project_id, name, data_type, min_value, max_value, categories, description)
   select :id, :projectId, :name, :dataType, :minValue, :maxValue, :categoriesJson, :description
    where (select count(*) from score_configs where project_id = :projectId) < ${mostConfigs}
   returning ${columns}`,
);

const valuesOf = (projectId: string, id: string, content: ConfigContent) => {
  const { categories } = content;
  const categoriesJson = categories === null ? null : JSON.stringify(categories);
  return { ...content, projectId, id, categoriesJson };
};

/** Inserts a config. Returns undefined if the project has the maximum number of configs. */
export const insertConfig = async (
  db: Queryable,
  projectId: string,
  id: string,
  content: ConfigContent,
): Promise<StoredConfig | undefined> => {
  const [row] = await db.query<Row>(insertStatement, valuesOf(projectId, id, content));
  return row && toConfig(row);
};

const updateStatement = statement(
  'update_score_config',
  `update score_configs
      set name = :name, is_archived = :isArchived, min_value = :minValue, max_value = :maxValue,
          categories = :categoriesJson, description = :description, updated_at = now()
    where project_id = :projectId and id = :id returning ${columns}`,
);

/** Updates a config. Returns undefined if there is none with this id. */
export const updateConfig = async (
  db: Queryable,
  projectId: string,
  id: string,
  content: ConfigContent,
): Promise<StoredConfig | undefined> => {
  const [row] = await db.query<Row>(updateStatement, valuesOf(projectId, id, content));
  return row && toConfig(row);
};

/** Models that projects define, with their prices. Built-in models are not stored in the database. */
import type { PricingTier, UsageUnit } from '#observability/pricing.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { keyOf } from './trace-keys.ts';

/** Model that a project defines. */
export type ModelRow = {
  id: string;
  modelName: string;
  matchPattern: string;
  startDate: Date | null;
  unit: UsageUnit | null;
  tokenizerId: string | null;
  tokenizerConfig: string | null;
  tiers: readonly PricingTier[];
  createdAt: Date;
};

type Row = Omit<ModelRow, 'tiers'> & { tiersJson: string };

const columns = `id, model_name as "modelName", match_pattern as "matchPattern", start_date as "startDate", unit,
  tokenizer_id as "tokenizerId", tokenizer_config as "tokenizerConfig", tiers as "tiersJson", created_at as "createdAt"`;

const toModel = ({ tiersJson, ...row }: Row): ModelRow => ({
  ...row,
  tiers: JSON.parse(tiersJson) as PricingTier[],
});

/** Maximum number of models of one project, and the unique constraint on their names. */
export const mostModels = 1_000;
export const modelsName = 'models_name';

const revisionStatement = statement(
  'find_model_revision',
  'select revision::text as revision from model_lists where project_id = $1',
);

/**
 * Returns a text that changes whenever the models of the project change; undefined if the project has never had a
 * model.
 */
export const findModelRevision = async (
  db: Queryable,
  projectId: string,
): Promise<string | undefined> =>
  (await db.query<{ revision: string }>(revisionStatement, [projectId]))[0]?.revision;

const listStatement = statement(
  'list_models',
  `select ${columns} from models where project_id = $1 order by model_name limit ${mostModels}`,
);

/** Lists all models of the project. */
export const listModels = async (db: Queryable, projectId: string): Promise<ModelRow[]> =>
  (await db.query<Row>(listStatement, [projectId])).map(toModel);

const findStatement = statement('find_model', `select ${columns} from models where key = $1`);

/** Returns the model with this id; undefined if there is none. */
export const findModel = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ModelRow | undefined> =>
  (await db.query<Row>(findStatement, [keyOf(projectId, id)])).map(toModel)[0];

const raiseStatement = statement(
  'raise_model_revision',
  `insert into model_lists (project_id, revision) values ($1, 1)
   on conflict (project_id) do update set revision = model_lists.revision + 1`,
);

const insertStatement = statement(
  'insert_model',
  `insert into models (key, project_id, id, model_name, match_pattern, start_date, unit, tokenizer_id,
                       tokenizer_config, tiers)
   select :key, :projectId, :id, :modelName, :matchPattern, :startDate::timestamptz, :unit, :tokenizerId,
          :tokenizerConfig, :tiersJson
    where (select count(*) from models where project_id = :projectId) < ${mostModels}
   returning ${columns}`,
);

/** Inserts a model. Returns undefined if the project has the maximum number of models. */
export const insertModel = (
  db: Database,
  projectId: string,
  { tiers, startDate, ...model }: Omit<ModelRow, 'createdAt'>,
): Promise<ModelRow | undefined> =>
  db.transaction(async (tx) => {
    // This statement locks the project's row, so that concurrent changes to its models wait for each other.
    await tx.query(raiseStatement, [projectId]);
    const key = keyOf(projectId, model.id);
    const tiersJson = JSON.stringify(tiers);
    const values = {
      ...model,
      key,
      projectId,
      tiersJson,
      startDate: startDate?.toISOString() ?? null,
    };
    const [row] = await tx.query<Row>(insertStatement, values);
    return row && toModel(row);
  });

const deleteStatement = statement('delete_model', 'delete from models where key = $1 returning id');

/** Deletes a model. Returns false if there is none with this id. */
export const deleteModel = (db: Database, projectId: string, id: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    await tx.query(raiseStatement, [projectId]);
    return (await tx.query(deleteStatement, [keyOf(projectId, id)])).length > 0;
  });

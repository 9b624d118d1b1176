/** Endpoints of scores and score configs. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { changeConfig, readConfig } from '#observability/read-config.ts';
import type { ScoreConfigView } from '#wire/public-api/observability/score.ts';
import * as api from '#wire/public-api/operations.ts';
import type { Database } from '../../../db/core/database.ts';
import {
  findConfigs,
  insertConfig,
  listConfigs,
  mostConfigs,
  type StoredConfig,
  updateConfig,
} from '../../../db/observability/score-configs.ts';
import { deleteScore, findScore } from '../../../db/observability/score-reads.ts';
import { putScore, refusingMisfits } from '../../../observability/ingestion/single-events.ts';
import {
  readAllScores,
  readPlainScores,
  readTraceScores,
} from '../../../observability/scores/lists.ts';
import { viewScore } from '../../../observability/traces/score-view.ts';
import type { Parts } from '../../../parts.ts';
import { metaOf, pageIn } from '../../../platform/lists/query.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const noScore = (): AppError => new AppError('not_found', 'Score not found');
const noConfig = (): AppError => new AppError('not_found', 'Score config not found');

const getScoreView = async (db: Database, projectId: string, id: string) => {
  const row = await findScore(db, projectId, id);
  if (row === undefined) throw noScore();
  return viewScore(row, projectId);
};

const scoreEndpointsOf = ({ traces }: Parts): Endpoint[] => [
  endpoint(api.createScore, async ({ body }, { caller: { projectId } }) =>
    respond(200, { id: await putScore(traces, projectId, body) }),
  ),

  endpoint(api.listScores, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readTraceScores(traces.db, projectId, query)),
  ),

  endpoint(api.listAllScores, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readAllScores(traces.db, projectId, query)),
  ),

  endpoint(api.listPlainScores, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readPlainScores(traces.db, projectId, query)),
  ),

  endpoint(api.getScore, async ({ params: { scoreId } }, { caller: { projectId } }) =>
    respond(200, await getScoreView(traces.db, projectId, scoreId)),
  ),

  endpoint(api.getAnyScore, async ({ params: { scoreId } }, { caller: { projectId } }) =>
    respond(200, await getScoreView(traces.db, projectId, scoreId)),
  ),

  endpoint(api.deleteScore, async ({ params: { scoreId } }, { caller: { projectId } }) => {
    if (!(await deleteScore(traces.db, projectId, scoreId))) throw noScore();
    return respond(202, { message: 'Score deletion queued successfully' });
  }),
];

const viewConfig = (config: StoredConfig): ScoreConfigView => ({
  ...config,
  categories: config.categories === null ? null : [...config.categories],
  createdAt: config.createdAt.toISOString(),
  updatedAt: config.updatedAt.toISOString(),
});

const getConfig = async (db: Database, projectId: string, id: string): Promise<StoredConfig> => {
  const config = (await findConfigs(db, projectId, [id])).get(id);
  if (config === undefined) throw noConfig();
  return config;
};

const configEndpointsOf = ({ traces: { db } }: Parts): Endpoint[] => [
  endpoint(api.createScoreConfig, async ({ body }, { caller: { projectId } }) => {
    const content = refusingMisfits(() => readConfig(body));
    const config = await insertConfig(db, projectId, newId('scc'), content);
    if (config !== undefined) return respond(200, viewConfig(config));
    throw new AppError('conflict', `the project has ${mostConfigs} score configs, the maximum`);
  }),

  endpoint(api.listScoreConfigs, async ({ query }, { caller: { projectId } }) => {
    const page = pageIn(query);
    const { rows, total } = await listConfigs(db, projectId, page);
    const meta = metaOf(page, { total, isLowerBound: false });
    return respond(200, { data: rows.map(viewConfig), meta });
  }),

  endpoint(api.getScoreConfig, async ({ params: { configId } }, { caller: { projectId } }) =>
    respond(200, viewConfig(await getConfig(db, projectId, configId))),
  ),

  endpoint(api.updateScoreConfig, async ({ params, body }, { caller: { projectId } }) => {
    const known = await getConfig(db, projectId, params.configId);
    const content = refusingMisfits(() => changeConfig(known, body));
    const config = await updateConfig(db, projectId, params.configId, content);
    if (config === undefined) throw noConfig();
    return respond(200, viewConfig(config));
  }),
];

export const scoreEndpoints = (parts: Parts): Endpoint[] => [
  ...scoreEndpointsOf(parts),
  ...configEndpointsOf(parts),
];

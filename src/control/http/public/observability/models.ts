/** Endpoints of models and their prices. */
import { readModel } from '#observability/read-model.ts';
import * as api from '#wire/public-api/operations.ts';
import { refusingMisfits } from '../../../observability/ingestion/single-events.ts';
import {
  createModel,
  readModelOf,
  readModels,
  removeModel,
} from '../../../observability/models/models.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

export const modelEndpoints = ({ traces: { db }, compiler }: Parts): Endpoint[] => [
  endpoint(api.createModel, async ({ body }, { caller: { projectId } }) => {
    const content = refusingMisfits(() => readModel(body));
    return respond(200, await createModel({ db, compiler }, projectId, content));
  }),

  endpoint(api.listModels, async ({ query }, { caller: { projectId } }) =>
    respond(200, await readModels(db, projectId, query)),
  ),

  endpoint(api.getModel, async ({ params: { modelId } }, { caller: { projectId } }) =>
    respond(200, await readModelOf(db, projectId, modelId)),
  ),

  endpoint(api.deleteModel, async ({ params: { modelId } }, { caller: { projectId } }) => {
    await removeModel(db, projectId, modelId);
    return respond(200, { message: 'Model successfully deleted' });
  }),
];

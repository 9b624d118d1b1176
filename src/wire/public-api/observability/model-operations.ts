/** Operations on models and their prices. */
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { ModelBody, ModelList, ModelParams, ModelQuery, ModelView } from './model.ts';
import { Done } from './trace.ts';

export const createModel = operation({
  id: 'createModel',
  summary: 'Create a model with its prices, which apply to observations written from then on',
  method: 'POST',
  path: '/models',
  access: 'write',
  unknown: 'ignored',
  body: ModelBody,
  answers: { 200: ModelView },
  refusals: { 429: 'The project has as many models as it may have.' },
});

export const listModels = getOperation({
  id: 'listModels',
  summary: 'Models of the project and built-in models, by name',
  path: '/models',
  access: 'inspect',
  unknown: 'ignored',
  query: ModelQuery,
  answer: ModelList,
});

export const getModel = getOperation({
  id: 'getModel',
  summary: 'A model of the project, or a built-in one',
  path: '/models/{modelId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ModelParams,
  answer: ModelView,
});

export const deleteModel = deleteOperation({
  id: 'deleteModel',
  summary: 'Delete a model of the project; the costs of existing observations stay as they are',
  path: '/models/{modelId}',
  access: 'write',
  unknown: 'ignored',
  params: ModelParams,
  answer: Done,
});

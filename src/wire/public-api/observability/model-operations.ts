/** Operations on models and their prices. */
import { operation } from '../../operation.ts';
import { ModelBody, ModelList, ModelParams, ModelQuery, ModelView } from './model.ts';
import { Done } from './trace.ts';

export const createModel = operation({
  id: 'createModel',
  summary: 'Create a model with what it costs, for observations that are written from then on',
  method: 'POST',
  path: '/models',
  access: 'write',
  unknown: 'ignored',
  body: ModelBody,
  answers: { 200: ModelView },
  refusals: { 429: 'The project has as many models as it may have.' },
});

export const listModels = operation({
  id: 'listModels',
  summary: 'Models of the project and those that are built in, by their names',
  method: 'GET',
  path: '/models',
  access: 'inspect',
  unknown: 'ignored',
  query: ModelQuery,
  answers: { 200: ModelList },
});

export const getModel = operation({
  id: 'getModel',
  summary: 'A model of the project, or one that is built in',
  method: 'GET',
  path: '/models/{modelId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ModelParams,
  answers: { 200: ModelView },
});

export const deleteModel = operation({
  id: 'deleteModel',
  summary: 'Delete a model of the project; what observations cost by it stays',
  method: 'DELETE',
  path: '/models/{modelId}',
  access: 'write',
  unknown: 'ignored',
  params: ModelParams,
  answers: { 200: Done },
});

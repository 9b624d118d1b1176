/** Operations on scores of traces, sessions and dataset runs, and on score configs. */
import { operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import {
  PlainScoreList,
  ScoreBody,
  ScoreConfigList,
  ScoreConfigView,
  ScoreList,
  ScoreView,
} from './score.ts';
import { Done, LongId, Made, Param, pageParams } from './trace.ts';

const ScoreParams = Type.Object({ scoreId: LongId });
const ConfigParams = Type.Object({ configId: LongId });

const scoreFilters = {
  name: Param(),
  userId: Param('of the trace'),
  traceTags: Param('all of which the trace has'),
  fromTimestamp: Param(),
  toTimestamp: Param(),
  environment: Param('one of which the score has'),
  source: Param(),
  operator: Param('of `value`: <, >, <=, >=, != or ='),
  value: Param('a number'),
  scoreIds: Param(),
  configId: Param(),
  queueId: Param(),
  dataType: Param(),
  traceId: Param(),
  sessionId: Param(),
  datasetRunId: Param(),
  observationId: Param(),
  filter: Param('JSON list of `{type, column, operator, value}`, all of which hold'),
};

export const createScore = operation({
  id: 'createScore',
  summary: 'Create a score, or replace the one of its id; the public key alone may do it, too',
  method: 'POST',
  path: '/scores',
  access: 'send',
  body: ScoreBody,
  overload: 503,
  answers: { 200: Made },
});

export const listScores = operation({
  id: 'listScores',
  summary: 'Scores of traces, latest first',
  method: 'GET',
  path: '/scores',
  access: 'inspect',
  query: Type.Object({ ...pageParams, ...scoreFilters }),
  answers: { 200: ScoreList },
});

export const listAllScores = operation({
  id: 'listAllScores',
  summary: 'Scores of traces, sessions and runs of datasets, latest first',
  method: 'GET',
  path: '/v2/scores',
  access: 'inspect',
  query: Type.Object({ ...pageParams, ...scoreFilters, fields: Param('score, trace') }),
  answers: { 200: ScoreList },
});

export const listPlainScores = operation({
  id: 'listPlainScores',
  summary: 'Scores, latest first, page by page from a cursor',
  method: 'GET',
  path: '/v3/scores',
  access: 'inspect',
  query: Type.Object({
    ...scoreFilters,
    limit: Param('at most 100'),
    cursor: Param('`meta.cursor` of the page before'),
    fields: Param('groups: details, subject, annotation'),
  }),
  answers: { 200: PlainScoreList },
});

export const getScore = operation({
  id: 'getScore',
  summary: 'A score',
  method: 'GET',
  path: '/scores/{scoreId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ScoreParams,
  answers: { 200: ScoreView },
});

export const getAnyScore = operation({
  id: 'getAnyScore',
  summary: 'A score, whatever it is of',
  method: 'GET',
  path: '/v2/scores/{scoreId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ScoreParams,
  answers: { 200: ScoreView },
});

export const deleteScore = operation({
  id: 'deleteScore',
  summary: 'Delete a score',
  method: 'DELETE',
  path: '/scores/{scoreId}',
  access: 'write',
  params: ScoreParams,
  answers: { 202: Done },
});

export const createScoreConfig = operation({
  id: 'createScoreConfig',
  summary: 'Create what scores of a name are held to',
  method: 'POST',
  path: '/score-configs',
  access: 'write',
  body: ScoreBody,
  answers: { 200: ScoreConfigView },
});

export const listScoreConfigs = operation({
  id: 'listScoreConfigs',
  summary: 'Score configs, newest first',
  method: 'GET',
  path: '/score-configs',
  access: 'inspect',
  query: Type.Object(pageParams),
  answers: { 200: ScoreConfigList },
});

export const getScoreConfig = operation({
  id: 'getScoreConfig',
  summary: 'A score config',
  method: 'GET',
  path: '/score-configs/{configId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ConfigParams,
  answers: { 200: ScoreConfigView },
});

export const updateScoreConfig = operation({
  id: 'updateScoreConfig',
  summary: 'Change or archive a score config; scores that are there stay as they are',
  method: 'PATCH',
  path: '/score-configs/{configId}',
  access: 'write',
  params: ConfigParams,
  body: ScoreBody,
  answers: { 200: ScoreConfigView },
});

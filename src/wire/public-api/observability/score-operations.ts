/** Operations on scores of traces, sessions and dataset runs, and on score configs. */
import { getOperation, operation } from '../../operation.ts';
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
  userId: Param('user of the trace'),
  traceTags: Param('tags that the trace must all have'),
  fromTimestamp: Param(),
  toTimestamp: Param(),
  environment: Param('environments; the score must be in one of them'),
  source: Param(),
  operator: Param('comparison with `value`: <, >, <=, >=, != or ='),
  value: Param('a number'),
  scoreIds: Param(),
  configId: Param(),
  queueId: Param(),
  dataType: Param(),
  traceId: Param(),
  sessionId: Param(),
  datasetRunId: Param(),
  observationId: Param(),
  filter: Param(
    'JSON list of conditions `{type, column, operator, value}`, all of which must hold',
  ),
};

export const createScore = operation({
  id: 'createScore',
  summary: 'Create a score, or replace the one of the same id; the public key is enough',
  method: 'POST',
  path: '/scores',
  access: 'send',
  body: ScoreBody,
  overload: 503,
  answers: { 200: Made },
});

export const listScores = getOperation({
  id: 'listScores',
  summary: 'Scores of traces, latest first',
  path: '/scores',
  access: 'inspect',
  query: Type.Object({ ...pageParams, ...scoreFilters }),
  answer: ScoreList,
});

export const listAllScores = getOperation({
  id: 'listAllScores',
  summary: 'Scores of traces, sessions and runs of datasets, latest first',
  path: '/v2/scores',
  access: 'inspect',
  query: Type.Object({
    ...pageParams,
    ...scoreFilters,
    fields: Param('groups of fields: score, trace'),
  }),
  answer: ScoreList,
});

export const listPlainScores = getOperation({
  id: 'listPlainScores',
  summary: 'Scores, latest first; pages are read by a cursor',
  path: '/v3/scores',
  access: 'inspect',
  query: Type.Object({
    ...scoreFilters,
    limit: Param('maximum number of scores on a page; at most 100'),
    cursor: Param('`meta.cursor` of the previous page'),
    fields: Param('groups of fields: details, subject, annotation'),
  }),
  answer: PlainScoreList,
});

export const getScore = getOperation({
  id: 'getScore',
  summary: 'A score',
  path: '/scores/{scoreId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ScoreParams,
  answer: ScoreView,
});

export const getAnyScore = getOperation({
  id: 'getAnyScore',
  summary: 'A score of a trace, a session or a dataset run',
  path: '/v2/scores/{scoreId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ScoreParams,
  answer: ScoreView,
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
  summary: 'Create a score config: the rules for scores of one name',
  method: 'POST',
  path: '/score-configs',
  access: 'write',
  body: ScoreBody,
  answers: { 200: ScoreConfigView },
});

export const listScoreConfigs = getOperation({
  id: 'listScoreConfigs',
  summary: 'Score configs, newest first',
  path: '/score-configs',
  access: 'inspect',
  query: Type.Object(pageParams),
  answer: ScoreConfigList,
});

export const getScoreConfig = getOperation({
  id: 'getScoreConfig',
  summary: 'A score config',
  path: '/score-configs/{configId}',
  access: 'inspect',
  unknown: 'ignored',
  params: ConfigParams,
  answer: ScoreConfigView,
});

export const updateScoreConfig = operation({
  id: 'updateScoreConfig',
  summary: 'Change or archive a score config; existing scores stay as they are',
  method: 'PATCH',
  path: '/score-configs/{configId}',
  access: 'write',
  params: ConfigParams,
  body: ScoreBody,
  answers: { 200: ScoreConfigView },
});

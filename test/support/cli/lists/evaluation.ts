/** Cases of lists that `svc` prints about the telemetry of agents, and about the evaluation of that telemetry. */
import * as dashboards from '../../../../src/cli/views/dashboard.ts';
import * as datasets from '../../../../src/cli/views/dataset.ts';
import { describeWorldRun } from '../../../../src/cli/views/dataset-run.ts';
import * as metrics from '../../../../src/cli/views/metrics.ts';
import * as models from '../../../../src/cli/views/model.ts';
import * as releases from '../../../../src/cli/views/releases.ts';
import * as scores from '../../../../src/cli/views/score.ts';
import * as traces from '../../../../src/cli/views/trace.ts';
import * as users from '../../../../src/cli/views/user.ts';
import {
  at,
  digest,
  email,
  entry,
  idOf,
  key,
  type ListCase,
  list,
  name,
  text,
  traceId,
} from './values.ts';

const build = {
  ...{ id: idOf('bld'), agentId: 'customer-support', buildHash: digest, version: '1.5.0-rc.1' },
};
const graded = {
  graded: 12,
  passRate: 0.9333,
  state: 'RUNNING',
  model: 'claude-sonnet-4-5-20250929',
};
const run = { runId: 'nightly-2026-03-01-of-main', world: 'customer-support', ...graded };
/** Cases by name of the list. */
export const evaluationLists: Readonly<Record<string, ListCase>> = {
  dashboards: [
    idOf('dsh'),
    list(dashboards.listDashboards, {
      ...{ id: idOf('dsh'), name: text, kind: 'environment', hasCode: true, updatedAt: at },
    }),
  ],
  'task sets': [
    idOf('tset'),
    list(dashboards.listTaskSets, { id: idOf('tset'), name: text, taskIds: [], createdAt: at }),
  ],
  datasets: [name, list(datasets.listDatasets, { name, description: text, updatedAt: at })],
  'items of a dataset': [
    'd51b55b7-ca6e-42a4-afca-882eee571c87',
    list(datasets.listItems, {
      id: 'd51b55b7-ca6e-42a4-afca-882eee571c87',
      ...{ input: { question: text }, expectedOutput: { answer: text }, updatedAt: at },
    }),
  ],
  'runs of a dataset': [
    'nightly run',
    list(datasets.listRuns, {
      ...{ name: 'nightly run of the agent', description: text, createdAt: at, id: idOf('dsr') },
    }),
  ],
  'items of a run': [
    name,
    list(datasets.listRunItems, {
      ...{ datasetItemId: name, traceId, observationId: idOf('call'), createdAt: at },
    }),
  ],
  'rollouts of a run': [
    name,
    (view) => {
      const item = {
        ...{ datasetItemId: name, verdict: null, score: null, sessionId: idOf('ses'), error: text },
        agent: null,
      };
      const worldRun = { graded: 0, passed: 0, failed: 1, crashed: 1, items: 1, reason: text };
      return describeWorldRun('nightly', { worldRun: entry(worldRun), items: [entry(item)] }, view);
    },
  ],
  'annotation queues': [
    'answers that customers complain of',
    list(datasets.listQueues, {
      ...{ name: 'answers that customers complain of', description: text, id: idOf('anq') },
      scoreConfigIds: [idOf('scc'), idOf('scc')],
    }),
  ],
  'items of a queue': [
    idOf('ani'),
    list(datasets.listQueueItems, {
      ...{ id: idOf('ani'), status: 'COMPLETED', objectType: 'OBSERVATION', objectId: traceId },
      createdAt: at,
    }),
  ],
  'days of metrics': [
    '2026-01-01',
    list(metrics.listDays, {
      ...{
        date: '2026-01-01',
        countTraces: 12_000,
        countObservations: 900_000,
        totalCost: 1_200.5,
      },
      usage: [{ model: 'claude-sonnet-4-5-20250929-of-the-north' }],
    }),
  ],
  'rows of metrics': [
    'claude-sonnet-4-5',
    list(metrics.listMetricRows, {
      ...{ providedModelName: 'claude-sonnet-4-5-20250929', time_dimension: at },
      ...{ traceName: text, sum_totalCost: 1_200.25, count_count: 1_200 },
    }),
  ],
  models: [
    idOf('mdl'),
    list(models.listModels, {
      ...{ id: idOf('mdl'), modelName: name, inputPrice: 5e-6, outputPrice: 2e-5 },
      ...{ pricingTiers: [1, 2], matchPattern: '(?i)^(?:[a-z0-9][\\w.@-]*/)*ft:gpt-4o:ours$' },
    }),
  ],
  'prices of a model': [
    idOf('mdl'),
    (view) => {
      const condition = { usageDetailPattern: '(?i)^input_cached', operator: 'gt', value: 200_000 };
      const tier = {
        ...{ name: 'Long inputs of the larger one', conditions: [condition, condition] },
        prices: { input: 5e-6, output_reasoning_tokens: 2e-5 },
      };
      const model = { id: idOf('mdl'), modelName: 'gpt', pricingTiers: [tier], createdAt: at };
      return models.describeModel(entry(model), view);
    },
  ],
  builds: [
    build.agentId,
    list(releases.describeBuilds, {
      ...{ ...build, semanticVer: '1.5.0-rc.1', labels: ['stable', 'candidate'], createdAt: at },
      attribution: { commitSha: 'c0ffee1034567890c0ffee1034567890c0ffee10' },
    }),
  ],
  'moves of a label': [
    ' d ago',
    list(releases.describeMoves, {
      ...{ movedAt: at, label: 'candidate-of-the-week', rollback: true, forced: true },
      ...{ buildId: build.id, previousBuildId: build.id, actor: key, source: 'ci', reason: text },
    }),
  ],
  'runs of the gate': [
    run.runId,
    (view) => {
      const gate = {
        ...{ verdict: 'blocked', passRate: 0.5, threshold: 0.7, gradedRollouts: 12 },
        ...{ minGradedRollouts: 30, reasons: [text] },
      };
      const found = { build, gate, evaluatedRuns: [run], comparedTo: null };
      return releases.describeGate(entry(found), view);
    },
  ],
  'runs of builds': [
    run.runId,
    list(releases.describeRuns, {
      ...{ ...run, agentId: build.agentId, ungraded: 3, planned: 1_200, createdAt: at },
    }),
  ],
  scores: [
    'd51b55b7-ca6e-42a4-afca-882eee571c87',
    list(scores.listScores, {
      ...{ id: 'd51b55b7-ca6e-42a4-afca-882eee571c87', name: text, value: 1 / 3 },
      ...{ stringValue: null, traceId, observationId: null, source: 'ANNOTATION', timestamp: at },
    }),
  ],
  'score configs': [
    idOf('scc'),
    list(scores.listConfigs, {
      ...{ id: idOf('scc'), name: 'helpfulness of the answer', dataType: 'CATEGORICAL' },
      categories: ['excellent', 'good', 'middling', 'bad-and-harmful'].map((label) => ({ label })),
      isArchived: true,
    }),
  ],
  traces: [
    traceId,
    list(traces.listTraces, {
      ...{ id: traceId, name: text, userId: email, latency: 1_460.1, totalCost: 0.000012 },
      timestamp: at,
    }),
  ],
  'steps and scores of a trace': [
    traceId,
    (view) => {
      const step = {
        ...{ id: idOf('call'), parentObservationId: null, name: text, type: 'GENERATION' },
        ...{ model: graded.model, latency: 146.1, calculatedTotalCost: 0.05, level: 'WARNING' },
      };
      const score = { name: 'helpfulness of the answer', value: 0.8, comment: text };
      const trace = { id: traceId, tags: [], latency: 1, totalCost: 0.05 };
      return traces.describeTrace(entry({ ...trace, observations: [step], scores: [score] }), view);
    },
  ],
  observations: [
    idOf('call'),
    list(traces.listObservations, {
      ...{
        id: idOf('call'),
        type: 'GENERATION',
        name: text,
        model: graded.model,
        level: 'WARNING',
      },
      ...{ totalTokens: 12_000, calculatedTotalCost: 0.05, latency: 146.1, startTime: at },
    }),
  ],
  'sessions of traces': [
    'chat-2026-11-29-of-ada',
    list(traces.listTraceSessions, {
      ...{ id: 'chat-2026-11-29-of-ada-of-the-north', environment: name, createdAt: at },
    }),
  ],
  'traces of a session': [
    traceId,
    (view) => {
      const session = { id: 'chat', environment: 'default', createdAt: at };
      const trace = { id: traceId, name: text, timestamp: at };
      return traces.describeTraceSession(entry({ ...session, traces: [trace] }), view);
    },
  ],
  'what a user did': [
    'hours_saved_by_the_answer',
    (view) => {
      const event = { event: 'hours_saved_by_the_answer', count: 120, value: 1.5, lastAt: at };
      return users.describeProfile(entry({ userId: email, attributes: {}, events: [event] }), view);
    },
  ],
  'events of users': [
    'hours_saved_by_the_answer',
    list(users.listUserEvents, {
      ...{ event: 'hours_saved_by_the_answer', userId: email, value: 1.5, traceId, timestamp: at },
    }),
  ],
  comments: [
    idOf('cmt'),
    list(users.listComments, {
      ...{ id: idOf('cmt'), objectType: 'TRACE', objectId: traceId, content: text },
      ...{ authorUserId: idOf('usr'), createdAt: at },
    }),
  ],
};

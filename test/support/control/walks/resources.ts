/** Lists of a project's resources for its agents: datasets, queues, context, builds, files, task sets. */
import * as api from '#wire/public-api/operations.ts';
import { driveOf } from '../file-uploads.ts';
import { type Answered, type Listed, type Lists, query, type Row, type Stage } from './listed.ts';

const datasetsAt = ({ ask }: Stage, path: string): Listed => ({
  open: async () => path,
  add: async (_, number) => (await ask('POST', '/v2/datasets', { name: `walked ${number}` })).id,
});

const listsOfDatasets = (stage: Stage): Lists => {
  const { ask } = stage;
  const makeDataset = (name: string) => ask('POST', '/v2/datasets', { name });
  return {
    listDatasets: datasetsAt(stage, '/v2/datasets'),
    listNamedDatasets: datasetsAt(stage, '/datasets'),
    listDatasetItems: {
      async open(name) {
        await makeDataset(name);
        return `/dataset-items?datasetName=${name}`;
      },
      async add(list, input) {
        const item = { datasetName: query(list, 'datasetName'), input };
        return (await ask('POST', '/dataset-items', item)).id;
      },
      remove: (_, id) => ask('DELETE', `/dataset-items/${id}`),
    },
    listDatasetRuns: {
      async open(name) {
        await makeDataset(name);
        await ask('POST', '/dataset-items', { datasetName: name, id: `of ${name}` });
        return `/datasets/${name}/runs`;
      },
      async add(list, number) {
        const name = list.split('/')[2] ?? '';
        const link = { runName: `r${number}`, datasetItemId: `of ${name}`, traceId: 't' };
        await ask('POST', '/dataset-run-items', link);
        return (await ask('GET', `${list}/r${number}`)).id;
      },
      async remove(list, id) {
        const runs = await ask('GET', `${list}?limit=100`);
        const run = runs.data.find((one) => one.id === id);
        return ask('DELETE', `${list}/${run?.name}`);
      },
    },
    listDatasetRunItems: {
      async open(name) {
        const { id } = await makeDataset(name);
        const item = { datasetName: name, id: `of ${name}` };
        await ask('POST', '/dataset-items', item);
        const first = { runName: name, datasetItemId: item.id, traceId: 'first' };
        await ask('POST', '/dataset-run-items', first);
        return `/dataset-run-items?datasetId=${id}&runName=${name}`;
      },
      async add(list, number) {
        const runName = query(list, 'runName');
        const link = { runName, datasetItemId: `of ${runName}`, traceId: `t${number}` };
        return (await ask('POST', '/dataset-run-items', link)).id;
      },
    },
    listDatasetRunSessions: {
      async open(name) {
        await makeDataset(name);
        return `/datasets/${name}/runs/${name}/sessions`;
      },
      async add(list, number) {
        // A run takes new items when it continues. An input that is no task gets no session.
        const name = list.split('/')[2] ?? '';
        const item = { datasetName: name, input: number };
        const { id } = await ask('POST', '/dataset-items', item);
        await ask('POST', `/datasets/${name}/runs`, { name, world: 'notes' });
        return id;
      },
      idOf: ({ datasetItemId }) => String(datasetItemId),
    },
  };
};

const listsOfQueues = ({ ask }: Stage): Lists => {
  const makeQueue = async (name: string): Promise<Answered> => {
    const config = await ask('POST', '/score-configs', { name: 'walked', dataType: 'BOOLEAN' });
    return ask('POST', '/annotation-queues', { name, scoreConfigIds: [config.id] });
  };
  return {
    listAnnotationQueues: {
      open: async () => '/annotation-queues',
      add: async (_, number) => (await makeQueue(`walked ${number}`)).id,
    },
    listAnnotationQueueItems: {
      open: async (name) => `/annotation-queues/${(await makeQueue(name)).id}/items`,
      add: async (list, number) =>
        (await ask('POST', list, { objectId: `o${number}`, objectType: 'TRACE' })).id,
      remove: (list, id) => ask('DELETE', `${list}/${id}`),
    },
  };
};

const listsOfContext = ({ ask }: Stage): Lists => ({
  listContext: {
    open: async (name) => `/context/memory?tag=${name}`,
    async add(list, number) {
      const body = { content: number, tags: [query(list, 'tag')] };
      await ask('POST', `/context/memory/m${number}`, body);
      return `m${number}`;
    },
    remove: (_, id) => ask('DELETE', `/context/memory/${id}`),
    idOf: ({ identifier }) => String(identifier),
  },
  listPrompts: {
    open: async (name) => `/v2/prompts?tag=${name}`,
    async add(list, number) {
      const name = `p${number}`;
      await ask('POST', '/v2/prompts', { name, prompt: 'Do it.', tags: [query(list, 'tag')] });
      return name;
    },
    remove: (_, id) => ask('DELETE', `/v2/prompts/${id}`),
    idOf: ({ name }) => String(name),
  },
});

const listsOfBuilds = ({ ask }: Stage): Lists => {
  const makeBuild = (agentId: string, buildHash: string) =>
    ask('POST', '/agent-builds', { agentId, buildHash });
  return {
    listBuilds: {
      open: async (name) => `/agent-builds?agentId=${name}`,
      add: async (list, number) => (await makeBuild(query(list, 'agentId'), `h${number}`)).id,
    },
    listBuildLabelMoves: {
      open: async (name) => `/agent-builds/${(await makeBuild(name, name)).id}/labels`,
      async add(list, number) {
        await ask('POST', list, { label: `l${number}` });
        return `l${number}`;
      },
      idOf: ({ label }) => String(label),
    },
    listAgentRuns: {
      open: async (name) => `/agent-runs?buildId=${(await makeBuild(name, name)).id}`,
      async add(list, number) {
        const { buildHash } = await ask('GET', `/agent-builds/${query(list, 'buildId')}`);
        const run = { id: `run-${number}`, buildHash };
        const session = await ask('POST', '/world-sessions', { slug: 'notes', run });
        await ask('DELETE', `/world-sessions/${session.id}`);
        return run.id;
      },
      idOf: ({ runId }) => String(runId),
    },
  };
};

const filesAt = ({ control, ask }: Stage, pathOf: () => Promise<string>): Listed => ({
  open: async (name) => `${await pathOf()}?prefix=${name}`,
  async add(list, number) {
    const path = `${query(list, 'prefix')}/f${number}.txt`;
    await driveOf(control).put(path, 'x');
    return path;
  },
  remove: (_, path) => ask('DELETE', `/files?path=${path}`),
  rowsOf: ({ files }) => files as Row[],
  idOf: ({ path }) => String(path),
  firstPage: 0,
});

const fileConnectorsAt = ({ ask }: Stage, pathOf: () => Promise<string>): Listed => ({
  open: pathOf,
  async add(list, number) {
    const body = { name: `of ${number}`, kind: 'folder', folder: `f${number}` };
    return (await ask('POST', list, body)).id;
  },
  remove: (_, id) => ask('DELETE', `/files/connectors/${id}`),
});

const listsOfFiles = (stage: Stage): Lists => {
  const ofWorld = async () => {
    const { body } = await stage.control.send(api.getWorld, { params: { slug: 'notes' } });
    return `/environments/${body.id}/files`;
  };
  return {
    listFiles: filesAt(stage, async () => '/files'),
    listFilesOfEnvironment: filesAt(stage, ofWorld),
    listFileConnectors: fileConnectorsAt(stage, async () => '/files/connectors'),
    listFileConnectorsOfEnvironment: fileConnectorsAt(
      stage,
      async () => `${await ofWorld()}/connectors`,
    ),
  };
};

export const listsOfResources = (stage: Stage): Lists => {
  const { ask } = stage;
  const makeTask = () =>
    ask('POST', '/world-tasks', { world: 'notes', spec: { instruction: 'Do it.' } });
  return {
    ...listsOfDatasets(stage),
    ...listsOfQueues(stage),
    ...listsOfContext(stage),
    ...listsOfBuilds(stage),
    ...listsOfFiles(stage),
    listTaskSets: {
      open: async () => '/task-sets',
      async add(_, number) {
        const body = { name: `walked ${number}`, taskIds: [(await makeTask()).id] };
        return (await ask('POST', '/task-sets', body)).id;
      },
    },
    listTasks: {
      open: async () => '/world-tasks',
      add: async () => (await makeTask()).id,
      remove: (list, id) => ask('DELETE', `${list}/${id}`),
    },
  };
};

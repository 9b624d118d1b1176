/** Lists of telemetry of agents, and of comments and scores on it. */
import { type Listed, type Lists, query, type Stage, sharedTime } from './listed.ts';

const scoresAt = ({ ask }: Stage, path: string): Listed => ({
  open: async (name) => `${path}?name=${name}`,
  add: async (list, number) =>
    (
      await ask('POST', '/scores', {
        ...{ id: `s${number}`, traceId: `scored ${number}`, name: query(list, 'name') },
        ...{ value: number, timestamp: sharedTime(number) },
      })
    ).id,
  remove: (_, id) => ask('DELETE', `/scores/${id}`),
});

const observationsAt = ({ ask }: Stage, path: string): Listed => ({
  open: async (name) => `${path}?name=${name}`,
  async add(list, number) {
    const id = `o${number}`;
    // Start times differ in order from insertion, so that new entries also appear in the middle of the list.
    const startTime = sharedTime(number);
    const body = { id, traceId: `t${number}`, name: query(list, 'name'), startTime };
    const event = { id: `e${number}`, type: 'span-create', timestamp: startTime, body };
    await ask('POST', '/ingestion', { batch: [event] });
    return id;
  },
  remove: (_, id) => ask('DELETE', `/traces/t${id.slice(1)}`),
});

export const listsOfTraces = (stage: Stage): Lists => {
  const { ask } = stage;
  return {
    listTraces: {
      open: async (name) => `/traces?name=${name}`,
      add: async (list, number) =>
        (
          await ask('POST', '/traces', {
            ...{ id: `walked-${number}`, name: query(list, 'name') },
            timestamp: sharedTime(number),
          })
        ).id,
      remove: (_, id) => ask('DELETE', `/traces/${id}`),
    },
    listTraceSessions: {
      open: async (name) => `/sessions?environment=${name}`,
      async add(list, number) {
        const sessionId = `ts${number}`;
        const of = { sessionId, environment: query(list, 'environment') };
        await ask('POST', '/traces', { id: `in-${number}`, ...of });
        return sessionId;
      },
    },
    listObservations: observationsAt(stage, '/observations'),
    listObservationParts: observationsAt(stage, '/v2/observations'),
    listScores: scoresAt(stage, '/scores'),
    listAllScores: scoresAt(stage, '/v2/scores'),
    listPlainScores: scoresAt(stage, '/v3/scores'),
    listScoreConfigs: {
      open: async () => '/score-configs',
      add: async (_, number) =>
        (await ask('POST', '/score-configs', { name: `c${number}`, dataType: 'NUMERIC' })).id,
    },
    listComments: {
      open: async (name) => `/comments?objectType=TRACE&objectId=${name}`,
      add: async (list, number) => {
        const on = { objectType: 'TRACE', objectId: query(list, 'objectId') };
        return (await ask('POST', '/comments', { ...on, content: `c${number}` })).id;
      },
    },
    listUserEvents: {
      open: async (name) => `/user-events?userId=${name}`,
      add: async (list, number) =>
        (
          await ask('POST', '/user-events', {
            userId: query(list, 'userId'),
            event: `e${number}`,
          })
        ).id,
    },
    listModels: {
      open: async () => '/models',
      add: async (_, number) =>
        (await ask('POST', '/models', { modelName: `walked ${number}`, matchPattern: 'x' })).id,
      remove: (list, id) => ask('DELETE', `${list}/${id}`),
    },
    listDailyMetrics: {
      open: async (name) => `/metrics/daily?traceName=${name}`,
      async add(list, number) {
        const date = new Date(Date.UTC(2020, 0, 1) + number * 86_400_000).toISOString();
        const trace = { id: `daily-${number}`, name: query(list, 'traceName'), timestamp: date };
        await ask('POST', '/traces', trace);
        return date.slice(0, 10);
      },
      idOf: ({ date }) => String(date),
    },
  };
};

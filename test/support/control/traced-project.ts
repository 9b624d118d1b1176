/**
 * A project of its own with telemetry of agents: three traces, two of them in a trace session, with observations and
 * scores.
 */
import { afterAll, beforeAll } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { ingest } from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from './own-control.ts';
import { addNeighbour, type Neighbour } from './second-project.ts';

/** Returns the time that is this many milliseconds after the start of the first trace. */
export const at = (ms: number): string => new Date(Date.UTC(2026, 2, 1) + ms).toISOString();

let made = 0;
/** Builds an event with an id of its own. */
export const event = (type: string, body: object, ms = 0) => {
  made += 1;
  return { id: `event-${made}`, type, timestamp: at(ms), body };
};

type Body = { [member: string]: never } & { data: { id: string }[]; meta: Record<string, unknown> };

/** Builds the query parameter in which lists take conditions. */
export const filterOf = (...entries: object[]): string =>
  `filter=${encodeURIComponent(JSON.stringify(entries))}`;

const reported = [
  event('trace-create', {
    id: 't1',
    name: 'chat',
    timestamp: at(0),
    userId: 'ann',
    sessionId: 's1',
    tags: ['a', 'b'],
    version: '1',
    release: 'r1',
    environment: 'prod',
    input: { q: 1 },
    output: 'hi',
    metadata: { k: 'v' },
    public: true,
  }),
  event('trace-create', {
    id: 't2',
    name: 'batch',
    timestamp: at(1_000),
    tags: ['b'],
    userId: 'bob',
  }),
  event('trace-create', { id: 't3', name: 'chat', timestamp: at(2_000), sessionId: 's1' }),
  event('span-create', {
    id: 'o1',
    traceId: 't1',
    name: 'outer',
    startTime: at(0),
    endTime: at(2_500),
  }),
  event('generation-create', {
    id: 'o2',
    traceId: 't1',
    parentObservationId: 'o1',
    name: 'inner',
    startTime: at(500),
    completionStartTime: at(700),
    endTime: at(1_500),
    model: 'm-1',
    modelParameters: { temperature: 0 },
    usageDetails: { input: 10, output: 5 },
    costDetails: { input: 0.5, output: 0.25 },
    input: [{ role: 'user' }],
    output: 'text',
    metadata: { long: 'x'.repeat(500), short: 'y' },
    level: 'WARNING',
  }),
  event('event-create', { id: 'o3', traceId: 't2', startTime: at(1_000), level: 'ERROR' }),
  event('score-create', {
    id: 'sc1',
    traceId: 't1',
    name: 'quality',
    value: 0.9,
    timestamp: at(5),
  }),
  event('score-create', { id: 'sc2', traceId: 't2', name: 'quality', value: 0.1 }),
];

export type ToldProject = {
  control(): OwnControl;
  /** Returns another project. */
  neighbour(): Neighbour;
  /** Reports events, none of which may be refused. */
  send(...batch: unknown[]): Promise<void>;
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  /** Returns the ids in the answer of a list. */
  idsOf(path: string): Promise<string[]>;
};

/** Creates the project for the tests of a file. */
export const tracedProject = (): ToldProject => {
  let control: OwnControl;
  let neighbour: Neighbour;
  const send: ToldProject['send'] = async (...batch) => {
    const { body } = await control.send(ingest, { body: { batch } });
    if (body.errors.length > 0) throw new Error(JSON.stringify(body.errors));
  };
  const ask: ToldProject['ask'] = async (method, path, body) => {
    const answer = await control.raw({
      method,
      path: `/api/public${path}`,
      headers: {
        authorization: basicAuthorization(control.publicKey, control.secretKey),
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: answer.body as Body };
  };
  const idsOf: ToldProject['idsOf'] = async (path) => {
    const { status, body } = await ask('GET', path);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.data.map(({ id }) => id);
  };
  beforeAll(async () => {
    control = await startOwnControl();
    neighbour = await addNeighbour(control);
    await send(...reported);
  });
  afterAll(() => control.stop());
  return { control: () => control, neighbour: () => neighbour, send, ask, idsOf };
};

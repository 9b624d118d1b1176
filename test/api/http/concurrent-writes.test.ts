/**
 * Tests concurrent writers of one object: each waits for the previous writer, no writer is refused, and no write is
 * lost.
 */
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import { makeEverything } from '../../support/control/everything.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

type Body = { [member: string]: unknown; data: unknown[] };

let control: OwnControl;
let ids: Record<string, string>;

const ask = async (method: string, path: string, body?: object) => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const answer = await createAsker(control)(method, path, {
    as,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: answer.body as Body };
};

const writers = Array.from({ length: 8 }, (_, number) => number);

/** Returns the unsuccessful answers of all writers. */
const refusalsOf = async (
  write: (number: number) => Promise<{ status: number; body: Body }>,
): Promise<unknown[]> =>
  (await Promise.all(writers.map(write))).filter(({ status }) => status >= 300);

beforeAll(async () => {
  control = await startNotesControl({ files: { folder: tmpdir(), endpoints: [] } });
  ids = await makeEverything(control);
});
afterAll(() => control.stop());

const schemaOf = (number: number) => ({ type: 'object', title: `of ${number}` });

/** Path and body of a write, which differ between writers only by their number. */
const writes: readonly (readonly [what: string, write: (number: number) => [string, object]])[] = [
  ['a new dataset', (number) => ['/v2/datasets', { name: 'new', description: `${number}` }]],
  [
    'the schemas of a dataset',
    (number) => ['/v2/datasets', { name: 'held', inputSchema: schemaOf(number) }],
  ],
  [
    'a new item',
    (number) => ['/dataset-items', { datasetName: 'held', id: 'new', input: { number } }],
  ],
  [
    'an item that is there',
    (number) => ['/dataset-items', { datasetName: 'held', id: 'known', input: { number } }],
  ],
  ['a new profile', (number) => ['/user-profiles', { userId: 'new', notes: `${number}` }]],
  [
    'a profile that is there',
    (number) => ['/user-profiles', { userId: 'known', attributes: { [`of${number}`]: number } }],
  ],
  [
    'a score',
    (number) => ['/scores', { id: 'one', traceId: 't', name: 'right', value: number / 8 }],
  ],
  ['a prompt', (number) => ['/v2/prompts', { name: 'one', prompt: `Do ${number}.` }]],
  ['a context repository', (number) => ['/context/skills/one', { content: { a: `${number}` } }]],
  [
    'a run of a dataset',
    (number) => [
      '/dataset-run-items',
      { runName: 'one', datasetItemId: 'known', traceId: `trace-${number}` },
    ],
  ],
  [
    'an item of a queue',
    () => [`/annotation-queues/${ids.queueId}/items`, { objectId: 'one', objectType: 'TRACE' }],
  ],
  ['a build', () => ['/agent-builds', { agentId: 'a', buildHash: 'one' }]],
  ['the label of a build', () => [`/agent-builds/${ids.buildId}/labels`, { label: 'canary' }]],
  ['a folder', () => ['/files/folders', { path: 'one/below/it' }]],
];

describe('concurrent writers of one object', () => {
  beforeAll(async () => {
    await ask('POST', '/v2/datasets', { name: 'held', inputSchema: { type: 'object' } });
    await ask('POST', '/dataset-items', { datasetName: 'held', id: 'known', input: {} });
    await ask('POST', '/user-profiles', { userId: 'known' });
  });

  it.each(writes)('all succeed, one after the other: %s', async (_, write) => {
    expect(await refusalsOf((number) => ask('POST', ...write(number)))).toEqual([]);
  });

  it('all succeed, one after the other: a stored task', async () => {
    const spec = (number: number) => ({ spec: { instruction: `Do ${number}.` } });
    const path = `/world-tasks/${ids.taskId}`;
    expect(await refusalsOf((number) => ask('PATCH', path, spec(number)))).toEqual([]);
  });

  it('all succeed, one after the other: labels of a prompt', async () => {
    const path = `/v2/prompts/${ids.promptName}/versions/1`;
    const labels = (number: number) => ({ newLabels: [`of-${number}`] });
    expect(await refusalsOf((number) => ask('PATCH', path, labels(number)))).toEqual([]);
  });

  it('lose no write: the attributes of a profile', async () => {
    const { body } = await ask('GET', '/user-profiles/known');
    expect(body.attributes).toEqual(
      Object.fromEntries(writers.map((number) => [`of${number}`, number])),
    );
  });

  it('all succeed when they write items and the schema of one dataset', async () => {
    await ask('POST', '/v2/datasets', { name: 'mixed' });
    const schema = { type: 'object', required: ['number'] };
    const refused = await refusalsOf((number) =>
      number % 2 === 0
        ? ask('POST', '/v2/datasets', { name: 'mixed', inputSchema: schema })
        : ask('POST', '/dataset-items', {
            ...{ datasetName: 'mixed', id: `of-${number}`, input: { number } },
          }),
    );
    expect(refused).toEqual([]);
  });

  it('that write one item id to two datasets succeed in only one of them', async () => {
    for (const name of ['left', 'right']) await ask('POST', '/v2/datasets', { name });
    const refused = await refusalsOf((number) =>
      ask('POST', '/dataset-items', {
        ...{ datasetName: number % 2 === 0 ? 'left' : 'right', id: 'shared', input: number },
      }),
    );
    const statuses = (refused as { status: number }[]).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([409]));
    expect(statuses).toHaveLength(writers.length / 2);
  });
});

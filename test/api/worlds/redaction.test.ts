/**
 * Tests redaction of the rows in requests: for a new world, in a `seed` call, and in the seed of a task. Redacted
 * values appear in the clear neither in storage, in answers nor in logs, and are not sent to a host.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import type { Row } from '#language/contract.ts';
import { until } from '#runtime/pause.ts';
import { basicAuthorization } from '#wire/client.ts';
import { reap } from '#wire/pool-api/operations.ts';
import {
  createTask,
  createWorld,
  enqueueCall,
  getTask,
  importData,
  listCalls,
  openSession,
  publishConnector,
  updateTask,
} from '#wire/public-api/operations.ts';
import type { CallRequest } from '#wire/public-api/sessions/call.ts';
import { chunkOf, senderTo } from '../../support/control/batches.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { redactedWorld } from '../../support/worlds/redacted-world.ts';
import { textFile } from '../../support/worlds/small-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let host: PlayedHost;
const lines: string[] = [];
/** All answers of the control plane, and all data that hosts received. */
const said: unknown[] = [];

beforeAll(async () => {
  control = await startOwnControl({ log: pino({}, { write: (line) => lines.push(line) }) });
  await control.send(createWorld, { body: { slug: 'people', from: encodeTree(redactedWorld()) } });
  const plain = encodeTree(redactedWorld({ withConnector: false }));
  await control.send(createWorld, { body: { slug: 'plain', from: plain } });
});

beforeEach(async () => {
  host = await warmHost(control);
});

afterEach(() => clearPool(control));

afterAll(() => control.stop());

/** Returns the body of the answer, or the error of a refusal. */
const outcome = async (asked: Promise<{ body: unknown }>): Promise<unknown> => {
  const result = await asked.then(
    ({ body }) => body,
    (error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      return { code: error.code, message: error.message, fields: error.fields };
    },
  );
  said.push(result);
  return result;
};

const open = async (slug: string, task?: object): Promise<string> => {
  const result = await outcome(
    control.send(openSession, { body: { slug, ...(task === undefined ? {} : { task }) } as never }),
  );
  const assignment = await host.poll();
  said.push(assignment);
  await host.ready();
  return (result as { id: string }).id;
};

const seed = (sessionId: string, input: object): Promise<unknown> => {
  const body = { kind: 'seed', input } as CallRequest;
  return outcome(control.send(enqueueCall, { params: { sessionId }, body, query: {} }));
};

const create = (slug: string, data: object, withConnector = true): Promise<unknown> => {
  const from = encodeTree(redactedWorld({ withConnector }));
  return outcome(control.send(createWorld, { body: { slug, from, data } as never }));
};

const digest = /^sha256:[0-9a-f]{64}$/;

describe('a seed with redact "apply"', () => {
  it('is stored and sent to the host in its redacted form, without the redact option', async () => {
    const sessionId = await open('people');
    const row = { id: 1, name: 'Ada', email: 'ada@mail.example', ssn: '12', lat: 59.123 };
    const call = await seed(sessionId, { rows: { people: [row] }, redact: 'apply' });
    expect(call).toMatchObject({
      input: {
        mode: 'append',
        rows: { people: [{ id: 1, email: expect.stringMatching(digest), lat: 59.1 }] },
      },
    });
    const { input } = call as { input: { rows: { people: Row[] } } };
    expect(Object.keys(input)).toEqual(['rows', 'mode']);
    expect(Object.keys(input.rows.people[0] ?? {})).toEqual(['id', 'name', 'email', 'lat']);
  });

  it('gets errors that quote no values, and leaves no call behind, if it is invalid', async () => {
    const sessionId = await open('people');
    const secret = 'very-secret-value';
    for (const [input, path] of [
      [{ rows: { people: [{ id: secret }] } }, ['input', 'rows', 'people', '0', 'id']],
      [{ rows: { people: [{ id: 1, [secret]: 1 }] } }, ['input', 'rows', 'people', '0']],
      [{ rows: { [secret]: [{ id: 1 }] } }, ['input', 'rows']],
      [{ rows: secret }, ['input', 'rows']],
      [{ rows: {}, [secret]: 1 }, ['input']],
      [{ rows: {}, mode: secret }, ['input', 'mode']],
    ] as const) {
      const result = await seed(sessionId, { ...input, redact: 'apply' });
      expect(result).toMatchObject({ code: 'invalid', fields: [{ path }] });
      expect(JSON.stringify(result)).not.toContain(secret);
    }
    const unknown = await seed(sessionId, { rows: { people: [{ id: secret }] }, redact: 'aply' });
    expect(unknown).toMatchObject({ code: 'invalid', fields: [{ path: ['input', 'redact'] }] });
    const { body } = await control.read(listCalls, { params: { sessionId }, query: {} });
    expect(body.data).toEqual([]);
  });
});

const plaintext = { rows: { people: [{ id: 1 }, { id: 2, email: 'ada@mail.example' }] } };

describe('redact "refuse"', () => {
  const place = ['rows', 'people', '1', 'email'];
  const message =
    'people[1] email [hash] is plaintext, but the policy requires its digest, sha256:<64 hex>; import with "redact": "apply", or store the redacted form';

  it('names entity, index, field and policy in a seed, a task and a new world', async () => {
    const sessionId = await open('people');
    const refused = { ...plaintext, redact: 'refuse' };
    expect(await seed(sessionId, refused)).toMatchObject({
      fields: [{ path: ['input', ...place], message }],
    });
    const body = { slug: 'people', task: { seed: refused } } as never;
    expect(await outcome(control.send(openSession, { body }))).toMatchObject({
      fields: [{ path: ['task', 'seed', ...place], message }],
    });
    expect(await create('refused', refused)).toMatchObject({
      fields: [{ path: ['data', ...place], message }],
    });
  });

  it('stores rows that are already redacted as they are', async () => {
    const sessionId = await open('people');
    const people = [{ id: 1, email: `sha256:${'0a'.repeat(32)}`, name: 'Ada', lat: 1.5 }];
    const call = await seed(sessionId, { rows: { people }, redact: 'refuse' });
    expect(call).toMatchObject({ input: { rows: { people } } });
  });
});

it.each(['apply', 'refuse'])(
  'redact "%s" is refused in a world without a connector',
  async (redact) => {
    const sessionId = await open('plain');
    const given = { ...plaintext, redact };
    const result = /no connector\.toml/;
    expect(await seed(sessionId, given)).toMatchObject({
      fields: [{ path: ['input', 'redact'], message: expect.stringMatching(result) }],
    });
    const body = { slug: 'plain', task: { seed: given } } as never;
    expect(await outcome(control.send(openSession, { body }))).toMatchObject({
      fields: [{ path: ['task', 'seed', 'redact'], message: expect.stringMatching(result) }],
    });
    expect(await create('refused', given, false)).toMatchObject({
      fields: [{ path: ['data', 'redact'], message: expect.stringMatching(result) }],
    });
  },
);

it('rows of a task are redacted before its session is written', async () => {
  await open('people', { seed: { ...plaintext, redact: 'apply' } });
  const task = (host.assignment as { task: { seed: object } }).task;
  expect(task.seed).toEqual({
    rows: { people: [{ id: 1 }, { id: 2, email: expect.stringMatching(digest) }] },
  });
});

it('rows of a stored task are redacted before it is stored, and not redacted twice', async () => {
  const give = (redact?: string) => ({
    seed: { rows: { people: [{ id: 1, phone: '+47 555 0100' }] }, ...(redact && { redact }) },
  });
  const body = { world: 'people', spec: give('apply') } as never;
  const { id } = (await outcome(control.send(createTask, { body }))) as { id: string };
  const read = async () =>
    (await control.read(getTask, { params: { taskId: id }, query: {} })).body.spec;
  const stored = await read();
  expect(stored.seed).toEqual({
    rows: { people: [{ id: 1, phone: expect.stringMatching(/^\+\d\d \d{3} \d{4}$/) }] },
  });
  expect(stored).not.toEqual(give());
  const params = { taskId: id };
  await control.send(updateTask, { params, body: { spec: stored } });
  expect(await read()).toEqual(stored);
  const refused = { spec: { seed: { ...plaintext, redact: 'refuse' } } } as never;
  expect(await outcome(control.send(updateTask, { params, body: refused }))).toMatchObject({
    fields: [{ path: ['spec', 'seed', 'rows', 'people', '1', 'email'] }],
  });
});

/** Returns the whole contents of the database and of the blobs, as text. */
const kept = async (): Promise<string> => {
  const tables = await control.sql<{ name: string }>(
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  expect(tables.length).toBeGreaterThan(15);
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await control.sql<{ text: string }>(
      `select row_to_json(one)::text as text from ${name} as one`,
    );
    rows.push(...found.map(({ text }) => text));
  }
  const { folder } = control.config.blobs as { folder: string };
  const unpack = [zstdDecompressSync, gunzipSync];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const blobs = files.flatMap((file) => {
    if (!file.isFile()) return [];
    const bytes = readFileSync(join(file.parentPath, file.name));
    const opened = unpack.flatMap((open) => {
      try {
        return [open(bytes)];
      } catch {
        return [];
      }
    });
    return [bytes, ...opened].map((one) => one.toString('latin1'));
  });
  expect(blobs.some((text) => text.startsWith('SQLite format 3'))).toBe(true);
  return [...rows, ...blobs].join('\n');
};

it('a thousand secrets are found nowhere after their rows were redacted, whether stored or refused', async () => {
  const secrets: string[] = [];
  const secret = (): string => {
    const made = `Canary${(secrets.length + 1_000_000).toString(36)}QxZ`;
    secrets.push(made);
    return made;
  };
  const personOf = (id: number): Row => ({
    id,
    name: secret(),
    email: `${secret()}@mail.example`,
    emails: [[secret()], [secret(), secret()]],
    phone: `+47 ${secret()}`,
    profile: `https://crm.example/${secret()}?key=${secret()}`,
    ssn: secret(),
    notes: { [secret()]: { to: secret() } },
    orders: [{ to: secret(), sum: 1 }],
  });
  const people = (from: number, count: number): Row[] =>
    Array.from({ length: count }, (_, at) => personOf(from + at));
  const apply = (rows: Record<string, unknown>) => ({ rows, redact: 'apply' });
  const sessionId = await open('people', {
    instruction: 'x',
    seed: apply({ people: people(1, 25) }),
  });
  for (let at = 0; at < 20; at += 1) await seed(sessionId, apply({ people: people(100 + at, 1) }));
  // Large enough to be parsed in another process.
  const filler = Array.from({ length: 3_000 }, (_, at) => ({
    id: 2_000 + at,
    lat: 0.123_456_789_1,
  }));
  await seed(sessionId, apply({ people: [...people(1_000, 10), ...filler] }));
  await create('canaries', apply({ people: people(1, 25) }));
  for (const rows of [people(1, 25), [...people(1, 1), { ...personOf(2), id: secret() }]]) {
    const tree = [
      ...redactedWorld(),
      textFile('scenarios/meet/scenario.toml', 'seed.redact = "apply"\n'),
      textFile('scenarios/meet/seed/people.json', JSON.stringify(rows)),
    ];
    const from = encodeTree(tree);
    const slug = `meeting-${rows.length}`;
    const made = await outcome(control.send(createWorld, { body: { slug, from } }));
    expect(made).toMatchObject(rows.length === 2 ? { code: 'invalid' } : { slug });
    const connector = { params: { slug: 'meeting' }, body: { files: from } };
    if (rows.length > 2) await outcome(control.send(publishConnector, connector));
  }
  const spec = { seed: apply({ people: people(1, 5) }) };
  await outcome(control.send(createTask, { body: { world: 'people', spec } as never }));
  const imported = (rows: object, how: object = {}) =>
    outcome(
      control.send(importData, {
        params: { slug: 'people' },
        body: { rows, redact: 'apply', ...how } as never,
      }),
    );
  expect(await imported({ people: people(5_000, 5) })).toMatchObject({ state: 'published' });
  await imported({ [secret()]: [personOf(6_002)] });
  const oddPeople = (id: number): unknown[] => [
    { ...personOf(id), [secret()]: secret() },
    { ...personOf(id + 1), lat: secret() },
    { ...personOf(id + 2), id: secret() },
    [secret()],
    secret(),
    { name: secret() },
  ];
  for (const one of oddPeople(6_100)) {
    const result = await imported({ people: [one] });
    expect(result).toMatchObject({ code: 'invalid' });
    const { fields } = result as { fields: { path: string[] }[] };
    expect(fields.map(({ path }) => path.slice(0, 3))).toEqual([['rows', 'people', '0']]);
  }
  const someOdd = { people: [...people(6_200, 1), ...oddPeople(6_210)] };
  expect(await imported(someOdd, { atomic: false })).toMatchObject({
    state: 'published',
    ...{ refused: 6, landed: { people: 1 } },
  });
  const merged = { people: [{ id: 6_200, name: secret() }, ...oddPeople(6_220)] };
  expect(await imported(merged, { atomic: false, mode: 'merge' })).toMatchObject({
    ...{ refused: 6, landed: { people: 1 } },
  });
  await imported({ people: oddPeople(6_300) }, { redact: 'refuse' });
  const sender = senderTo(control, 'people');
  for (const redact of ['apply', 'refuse'] as const) {
    const chunk = chunkOf(oddPeople(6_400), 'people');
    const twice = `{"id":1,"${secret()}":{"${secret()}":1,"${secret()}":2},"name":1,"name":2}`;
    const broken = `{"id":1,"name":"${secret()}`;
    const bytes = gzipSync(`${gunzipSync(chunk.bytes)}${twice}\n${broken}\n`);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const batch = await sender.send({ redact }, { ...chunk, bytes, digest, rows: chunk.rows + 2 });
    expect(batch).toMatchObject({ state: 'refused', refused: chunk.rows + 2 });
    said.push(batch);
  }
  await until(
    async () => {
      await control.pool(reap, {
        body: { idleMs: 600_000, maxAgeMs: 600_000, provisionMs: 600_000, closingMs: 600_000 },
      });
      const left = await control.sql("select 1 from uploads where began_at = '-infinity'");
      return left.length === 0;
    },
    { timeoutMs: 30_000, everyMs: 10, what: 'bytes of spent chunks to be removed' },
  );
  // Secrets in every place that a refusal might quote.
  for (const rows of [
    { people: [{ ...personOf(1), id: secret() }] },
    { people: [{ ...personOf(1), [secret()]: secret() }] },
    { people: [{ ...personOf(1), orders: [{ sum: secret() }] }] },
    { people: [{ ...personOf(1), lat: secret() }] },
    { [secret()]: [personOf(1)] },
    { people: [{ name: secret() }] },
    { people: secret() },
  ]) {
    await seed(sessionId, apply(rows));
    await create('refused', apply(rows));
    const body = { slug: 'people', task: { seed: apply(rows) } } as never;
    await outcome(control.send(openSession, { body }));
    const task = { world: 'people', spec: { seed: apply(rows) } } as never;
    await outcome(control.send(createTask, { body: task }));
  }
  const broken = await control.raw({
    method: 'POST',
    path: `/api/public/world-sessions/${sessionId}/calls`,
    headers: {
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      'content-type': 'application/json',
    },
    body: `{"kind": "seed", "input": {"redact": "apply", "rows": ${secret()}}}`,
  });
  expect(broken.status).toBe(400);
  said.push(broken);
  // Values that are not redacted are found, so the search looks in the right places.
  await seed(sessionId, { rows: { people: [{ id: 9_001, name: 'CanaryOfCalls' }] } });
  await create('clear', { rows: { people: [{ id: 9_002, name: 'CanaryOfBlobs' }] } });
  const { body } = await control.read(listCalls, {
    params: { sessionId },
    query: { fields: 'input,output' },
  });
  const everything = [await kept(), lines.join(''), JSON.stringify([said, body])].join('\n');
  const inTheClear = ['CanaryOfCalls', 'CanaryOfBlobs'];
  expect(inTheClear.filter((one) => everything.includes(one))).toEqual(inTheClear);
  expect(secrets.length).toBeGreaterThan(1_000);
  expect(secrets.filter((one) => everything.includes(one))).toEqual([]);
});

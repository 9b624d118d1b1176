/** Tests `POST /worlds/runtime`: each command, and every rejection. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textFile } from '#language/edit/tree-text.ts';
import { runWorldCommand } from '#wire/public-api/operations.ts';
import type {
  RuntimeAnswer,
  RuntimeBody,
  RuntimeRejection,
} from '#wire/public-api/worlds/runtime.ts';
import { type StartedControl, startTestControl } from '../../support/control/control.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { boardMirrorTree } from '../../support/worlds/board-mirror.ts';
import { replaceIn, smallWorld, toTree } from '../../support/worlds/small-world.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
});

afterAll(async () => {
  await control.stop();
  await database.drop();
});

const files = encodeTree(toTree(smallWorld()));

/** Files of the world that mirrors a board, with captures, encoded for a request. */
const toEncoded = (captures: Record<string, { body: unknown }>) =>
  encodeTree([
    ...boardMirrorTree({ url: 'https://board.example/v1' }),
    ...Object.entries(captures).map(([path, { body }]) => {
      const [, operation] = path.split('/');
      return textFile(path, JSON.stringify({ operation, arguments: {}, status: 200, body }));
    }),
  ]);

type Command = RuntimeAnswer['command'];

/** Runs a command that must succeed and returns its answer. */
const run = async <const Name extends Command>(
  body: RuntimeBody & { command: Name },
): Promise<Extract<RuntimeAnswer, { command: Name }>> => {
  const answer = await control.send(runWorldCommand, { body });
  expect(answer).toMatchObject({ status: 200, body: { status: 'ok', command: body.command } });
  return answer.body as Extract<RuntimeAnswer, { command: Name }>;
};

const reject = async (body: RuntimeBody): Promise<RuntimeRejection> => {
  const answer = await control.send(runWorldCommand, { body });
  expect(answer).toMatchObject({ status: 400, body: { status: 'rejected' } });
  return answer.body as RuntimeRejection;
};

const replaced = (path: string, text: string) => [
  ...files.filter((file) => file.path !== path),
  { path, content: Buffer.from(text).toString('base64') },
];

describe('validate', () => {
  it('counts the parts of a tree and names the parts that are not compiled', async () => {
    const { counts, generated } = await run({ command: 'validate', files });
    expect(counts).toEqual({ entities: 3, tools: 4, routes: 7, tasks: 4 });
    expect(generated).toContainEqual({ path: 'schema/runtime.json', state: 'missing' });
  });

  it('rejects an invalid tree with every problem, and puts the first one in the error', async () => {
    const world = smallWorld();
    replaceIn(world, 'svc-env.toml', 'language = "svc-world/1"', 'language = "svc-world/2"');
    replaceIn(world, 'connector.toml', 'slug = "board"', 'slug = "board"\nlsug = "x"');
    const { error, message, problems } = await reject({
      command: 'validate',
      files: encodeTree(toTree(world)),
    });
    expect(problems.map(({ code, file, pointer }) => [code, file, pointer])).toEqual([
      ['unknown_key', 'connector.toml', '/connector/lsug'],
      ['bad_value', 'svc-env.toml', '/schema/language'],
    ]);
    expect(error).toEqual({
      code: 'unknown_key',
      message: problems[0]?.message,
      path: 'connector.toml#/connector/lsug',
    });
    expect(message).toContain('2 problems');
  });

  it('rejects generated files that are stale or edited', async () => {
    const compiled = await run({ command: 'compile', files });
    const whole = [...files, ...compiled.files];
    const valid = await run({ command: 'validate', files: whole });
    expect(valid.generated.map(({ state }) => state)).not.toContain('missing');
    const edited = whole.map((file) =>
      file.path === 'tool-schemas.json' ? { ...file, content: '' } : file,
    );
    expect(await reject({ command: 'validate', files: edited })).toMatchObject({
      problems: [{ code: 'edited_artifact', file: 'tool-schemas.json' }],
    });
    const changed = [...replaced('data/lists.json', '[{"id":1,"name":"Only"}]'), ...compiled.files];
    const { problems } = await reject({ command: 'validate', files: changed });
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['stale_artifact']));
  });
});

describe('further commands on a tree', () => {
  it('`compile` returns the generated files', async () => {
    const compiled = await run({ command: 'compile', files });
    expect(compiled.world).toMatchObject({ name: 'Board', package: { id: 'board' } });
    const runtime = compiled.files.find(({ path }) => path === 'schema/runtime.json');
    const contract = JSON.parse(Buffer.from(runtime?.content ?? '', 'base64').toString());
    expect(contract).toMatchObject({ language: 'svc-world/1', name: 'Board' });
  });

  it('`describe` returns fields with their types and redaction', async () => {
    const { world } = await run({ command: 'describe', files });
    expect(world).toMatchObject({ name: 'Board', redactSalt: 'board' });
    expect(world.entities.find(({ name }) => name === 'cards')?.fields).toContainEqual({
      path: 'author.login',
      types: ['string'],
      required: true,
      policy: 'hash',
    });
  });

  it('`counts` returns the number of rows of data', async () => {
    const { counts } = await run({ command: 'counts', files: encodeTree(notesWorld()) });
    expect(counts).toEqual({ folders: 1, notes: 1 });
  });
});

describe('template commands', () => {
  it('list the templates', async () => {
    const { templates } = await run({ command: 'templates' });
    expect(templates).toContainEqual(expect.objectContaining({ slug: 'code-hosting' }));
  });

  it('summarize a template', async () => {
    const { summary } = await run({ command: 'template-summary', template: 'code-hosting' });
    expect(summary).toMatchObject({
      slug: 'code-hosting',
      name: 'Code hosting',
      entities: expect.arrayContaining(['issues']),
      tasks: expect.arrayContaining(['close-duplicate', 'merge-what-is-ready']),
    });
    expect(summary.counts.rows).toBeGreaterThan(0);
  });

  it('start a world under a name of its own', async () => {
    const command = 'init-template';
    const begun = await run({ command, template: 'code-hosting', name: 'Ours' });
    const validated = await run({ command: 'validate', files: begun.files });
    expect(validated.counts.entities).toBeGreaterThan(3);
    const manifest = begun.files.find(({ path }) => path === 'svc-env.toml');
    expect(Buffer.from(manifest?.content ?? '', 'base64').toString()).toContain('name = "Ours"');
    const listed = await run({ command: 'init-template-files', template: 'code-hosting' });
    expect(listed.files.map(({ path }) => path)).toEqual(begun.files.map(({ path }) => path));
    expect(listed.files[0]).toEqual({ path: expect.any(String), sizeBytes: expect.any(Number) });
  });
});

describe('commands about rows', () => {
  const board = toEncoded({
    'captures/list_boards/1.json': {
      body: {
        boards: [
          { id: 1, name: 'One' },
          { id: 2, name: 3 },
          { id: 4, name: 'Four', odd: 1 },
        ],
      },
    },
  });

  it('`ingest` turns captures into rows, shaped and redacted', async () => {
    const people = { people: [{ id: 'p1', email: 'ann@example.test', national_id: 'secret-id' }] };
    const answer = await run({
      command: 'ingest',
      files: toEncoded({ 'captures/list_people/1.json': { body: people } }),
    });
    expect(answer.rows.people).toEqual([{ id: 'p1', email: expect.stringMatching(/^sha256:/) }]);
    expect(answer.counts).toMatchObject({ read: 1, rows: 1, redacted: { dropped: 1, hashed: 1 } });
    expect(JSON.stringify(answer)).not.toContain('secret-id');
  });

  it('`conform` names captured rows that the contract rejects, also for an unknown field', async () => {
    const { fidelity, entities, misfits } = await run({ command: 'conform', files: board });
    expect(fidelity).toBe(33.33);
    expect(entities).toEqual([{ entity: 'boards', rows: 3, fitting: 1 }]);
    // The last one has a field that the closed entity does not have.
    expect(misfits).toMatchObject([
      { entity: 'boards', index: 1, pointer: '/name' },
      { entity: 'boards', index: 2, pointer: '/odd' },
    ]);
  });

  it('`import-data` returns the row files, or names the values that do not fit', async () => {
    const of = (path: string, text: string) => [
      { path, content: Buffer.from(text).toString('base64') },
    ];
    const rows = of('boards.jsonl', '{"id": 7, "name": "Seven"}\n');
    const { files: written, counts } = await run({ command: 'import-data', files: board, rows });
    expect(counts.boards).toBe(1);
    expect(written.map(({ path }) => path)).toEqual(['data/boards.json']);
    expect(JSON.parse(Buffer.from(written[0]?.content ?? '', 'base64').toString())).toEqual([
      { id: 7, name: 'Seven' },
    ]);
    const bad = await reject({
      command: 'import-data',
      files: board,
      rows: of('boards.json', '[{"id": 1}]'),
    });
    expect(bad.message).toContain('name');
    const odd = await reject({
      command: 'import-data',
      files: board,
      rows: of('bords.json', '[]'),
    });
    expect(odd.error.path).toBe('#/rows/0/path');
  });
});

describe('a rejected command', () => {
  const rejected: [string, RuntimeBody, string, string][] = [
    ['no rows', { command: 'import-data', files: [] }, 'invalid_request', '#/rows'],
    ['no tree', { command: 'compile' }, 'invalid_request', '#/files'],
    ['no template', { command: 'init-template' }, 'invalid_request', '#/template'],
    [
      'an unknown template',
      { command: 'template-summary', template: 'code-hostin' },
      'invalid_request',
      '#/template',
    ],
    [
      'a name that no world can have',
      { command: 'init-template', template: 'code-hosting', name: 'a\nb' },
      'invalid_request',
      '#/name',
    ],
    [
      'a file that is not base64',
      { command: 'counts', files: [{ path: 'a', content: '%' }] },
      'invalid_request',
      '#/files/0/content',
    ],
  ];

  it.each(rejected)(
    'is answered with an error code and the path of the mistake for %s',
    async (_, body, code, path) => {
      expect((await reject(body)).error).toMatchObject({ code, path });
    },
  );

  it('has the code forbidden if the client sent only the public key', async () => {
    const body = { command: 'templates' } as const;
    await expect(control.read(runWorldCommand, { body })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  const malformed: [string, unknown, string][] = [
    ['a command that does not exist', { command: 'explode' }, '#/command'],
    ['an unknown field', { command: 'templates', flies: [] }, '#/flies'],
    ['a field of the wrong type', { command: 'validate', files: 'all' }, '#/files'],
    ['no object', [], ''],
  ];

  it.each(malformed)('has an error of this form, too, for %s', async (_, body, path) => {
    const { error, problems, message } = await reject(body as RuntimeBody);
    expect(error).toMatchObject({ code: 'invalid_request', path });
    expect(error.message).toBe(problems[0]?.message);
    expect(message).not.toBe('');
  });

  it('has an error of this form, too, for a body that is not JSON or is too large', async () => {
    const key = btoa(`${control.publicKey}:${control.secretKey}`);
    const post = (body: string, headers = {}) =>
      control.raw({
        method: 'POST',
        path: '/api/public/worlds/runtime',
        headers: { authorization: `Basic ${key}`, 'content-type': 'application/json', ...headers },
        body,
      });
    const refused = [
      [400, await post('{')],
      [413, await post('', { 'content-length': '99000000' })],
      [415, await post('a=b', { 'content-type': 'text/plain' })],
    ] as const;
    for (const [status, answer] of refused) {
      expect(answer).toMatchObject({
        status,
        body: { status: 'rejected', error: { code: 'invalid_request', path: '' } },
      });
    }
  });

  it('names every invalid field', async () => {
    const body = { command: 'validate', files: 7, flies: [], nmae: 'x' };
    const { problems } = await reject(body as unknown as RuntimeBody);
    expect(problems.map(({ pointer }) => pointer)).toEqual(['/flies', '/nmae', '/files']);
  });
});

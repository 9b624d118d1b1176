/** Errors of tools of every kind, caused by the call or by the tool itself. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '#test/support/host/serve-world.ts';

const closed = (properties: Row, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const integer = { type: 'integer' };
const string = { type: 'string' };

const Card = closed({ id: integer, list_id: integer, title: string, extra: true }, [
  'id',
  'list_id',
  'title',
]);
const card = { $ref: '#/$defs/Card' };
const anything = { type: 'object' };
const choice = closed({ how: { enum: ['well', 'lie', 'break', 'refused'] } }, ['how']);

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:test:cards',
  $defs: { Card },
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'cards', version: '1.0.0' },
    entities: {
      lists: { schema: closed({ id: integer }, ['id']), primary_key: ['id'] },
      cards: {
        schema: card,
        primary_key: ['id'],
        relationships: [{ fields: ['list_id'], target: 'lists', on_delete: 'restrict' }],
      },
    },
    tools: {
      list_cards: { input: anything, output: { type: 'array', items: closed({ id: integer }) } },
      get_cards: { input: anything, output: card },
      create_cards: { input: anything, output: card },
      update_cards: { input: anything, output: card },
      delete_lists: { input: anything, output: true },
      rename_card: { input: anything, output: card },
      archive: { input: choice, output: integer },
      count: { input: choice, output: integer },
    },
  },
};

const toolsPy = `from svc_env import insert, fail

def archive(how):
    if how == "lie":
        insert("cards", {"id": 70, "list_id": 1, "title": "left behind"})
        return {"count": [1]}
    if how == "refused":
        insert("cards", {"id": 71, "list_id": 9, "title": "nowhere"})
    if how == "break":
        fail("the list is full", code="full", limit=5)
    return 1
`;

const toolsTs = `import { insert, fail } from 'svc_env';

export async function count({ how }: { how: string }) {
  if (how === 'lie') {
    await insert('cards', { id: 70, list_id: 1, title: 'left behind' });
    return 1.5;
  }
  if (how === 'refused') await insert('cards', { id: 71, list_id: 1, title: 5 });
  if (how === 'break') throw new Error('out of luck');
  return 1;
}
`;

const connectorToml = `[connector]
slug = "cards"
base_url = "https://cards.example"

[auth]
scheme = "bearer"
secret_env = "CARDS_TOKEN"

[[operations]]
name = "rename_card"
path = "/cards/{id}"
method = "PATCH"
entity = "cards"

[operations.api]
action = "update"
filter = { id = "id" }
single = true
`;

const environmentToml = `[schema]
language = "svc-world/1"

[environment]
name = "Cards"
kind = "mock-tools"
connector = "custom"

[tools]
serve = ["list_cards", "get_cards", "create_cards", "update_cards", "delete_lists", "rename_card", "archive", "count"]
`;

const file = (path: string, content: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(content),
});

const tree = [
  file('schema/world.json', JSON.stringify(worldJson)),
  file('svc-env.toml', environmentToml),
  file('connector.toml', connectorToml),
  file('tools.py', toolsPy),
  file('tools.ts', toolsTs),
  file('data/lists.json', '[{"id": 1}]'),
  file('data/cards.json', '[{"id": 1, "list_id": 1, "title": "first"}]'),
];

let world: ServedWorld;
beforeAll(async () => {
  world = await serveWorld(tree);
});
beforeEach(() => world.reset());
afterAll(() => world?.stop());

const call = (name: string, input: Row) => world.call('tool', name, input);
const digest = async () => ((await world.call('state')).output as { digest: string }).digest;

/** Returns the error of a call, and checks that the call changed nothing. */
const errorOf = async (name: string, input: Row) => {
  const before = await digest();
  const { error, changes } = await call(name, input);
  expect(changes).toEqual({});
  expect(await digest()).toBe(before);
  return error;
};

describe('a task that names its tools', () => {
  const own = 'tools = ["list_cards", "count"]\n';
  const verifier = file('verifiers/seen.sql', 'select 1 as passed');
  const ofManifest = `${environmentToml}\n[[tasks]]\nname = "few"\nverifier = "seen"\n${own}`;
  const asked = { name: 'few', verifier: 'seen', tools: ['list_cards', 'count'] };
  const elsewhere = tree.filter(({ path }) => path !== 'svc-env.toml');

  it.each([
    ['a scenario', [...tree, file('scenarios/few/scenario.toml', own)]],
    ['the manifest', [...elsewhere, file('svc-env.toml', ofManifest), verifier]],
    ['tasks.json', [...tree, file('tasks.json', JSON.stringify([asked])), verifier]],
  ])(
    'in %s offers no other tool, and refuses a call of another tool with the list of those that it names',
    async (_, files) => {
      const few = await serveWorld(files, { task: 'few' });
      try {
        const asked = (name: string) => few.call('tool', name, { how: 'well' });
        expect((await asked('count')).error).toBeUndefined();
        expect((await asked('get_cards')).error).toEqual({
          code: 'forbidden',
          message:
            'the task does not offer the tool "get_cards"; it offers these tools: list_cards, count',
          details: { tools: ['list_cards', 'count'] },
        });
        expect((await asked('get_card')).error).toMatchObject({
          code: 'unknown_tool',
          message: 'the world has no tool "get_card"; known: list_cards, count',
        });
      } finally {
        await few.stop();
      }
    },
  );
});

describe('an input that does not fit', () => {
  it('is refused for every kind of tool, with the places of all problems and a description of the first', async () => {
    for (const name of ['archive', 'count']) {
      expect(await errorOf(name, { how: 'badly', 'a/b': 1 })).toEqual({
        code: 'invalid_input',
        message: expect.stringMatching(
          /^the input does not fit the tool's schema: .* \(and 1 more\)$/,
        ),
        path: expect.stringMatching(/^\/(how|a~1b)$/),
        details: {
          problems: expect.arrayContaining([
            { path: '/how', message: expect.stringContaining('"well"') },
            { path: '/a~1b', message: expect.any(String) },
          ]),
        },
      });
    }
  });

  it('is refused with the place in the input if it is, or contains, a row that the store refuses', async () => {
    const broken = { id: 2, list_id: 1, title: 5 };
    expect(await errorOf('create_cards', broken)).toMatchObject({ code: 'shape', path: '/title' });
    expect(await errorOf('create_cards', { row: broken })).toMatchObject({
      code: 'shape',
      path: '/row/title',
      details: { entity: 'cards', field: 'title', pointer: '/title' },
    });
    const orphan = { id: 2, list_id: 9, title: 'nowhere' };
    expect(await errorOf('create_cards', { row: orphan })).toMatchObject({
      code: 'missing_reference',
      path: '/row/list_id',
    });
    expect(await errorOf('update_cards', { id: 1, list_id: 9 })).toMatchObject({
      path: '/list_id',
    });
    expect(await errorOf('get_cards', { id: 404 })).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('id 404'),
      path: '/id',
    });
    expect(await errorOf('get_cards', {})).toMatchObject({ code: 'shape', path: '/id' });
    expect((await errorOf('delete_lists', { id: 1 }))?.code).toBe('referenced');
    expect(await errorOf('list_cards', { 'x/y': 1 })).toMatchObject({ path: '/x~1y' });
  });

  it('is refused with the vendor’s error if the tool is bound to an operation', async () => {
    expect(await errorOf('rename_card', { id: 1, title: 5 })).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('/title'),
      details: { status: 400, body: { error: 'invalid' } },
    });
    expect(await errorOf('rename_card', { id: 404, title: 'x' })).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a tool whose code has a bug', () => {
  it('fails its call with an error that blames the tool and names a place in the output, not in the input', async () => {
    const lies: [string, Row, string, string][] = [
      ['archive', { how: 'lie' }, 'archive in tools.py', ''],
      ['count', { how: 'lie' }, 'count in tools.ts', ''],
      ['list_cards', {}, 'the rows of cards', '/0/'],
    ];
    for (const [name, input, source, path] of lies) {
      const error = await errorOf(name, input);
      expect(error).toMatchObject({
        code: 'invalid_output',
        message: expect.stringContaining('the world is at fault, not the call'),
        details: { tool: name, source },
      });
      expect(error?.path).toBeUndefined();
      const details = error?.details as { problems: { path: string }[] } | undefined;
      expect(details?.problems[0]?.path).toMatch(new RegExp(`^${path}`));
    }
  });

  it('fails its call with the exception that the code raised, or the place in the row that it wrote', async () => {
    expect(await errorOf('archive', { how: 'break' })).toMatchObject({
      code: 'full',
      message: 'the list is full',
    });
    expect(await errorOf('count', { how: 'break' })).toMatchObject({
      code: 'raised',
      message: expect.stringContaining('out of luck'),
    });
    const orphan = await errorOf('archive', { how: 'refused' });
    const missing = { kind: 'missing_reference', pointer: '/list_id' };
    expect(orphan).toMatchObject({ code: 'refused', details: missing });
    expect(orphan?.path).toBeUndefined();
    const broken = await errorOf('count', { how: 'refused' });
    expect(broken).toMatchObject({ code: 'refused', details: { kind: 'shape', field: 'title' } });
    expect(broken?.path).toBeUndefined();
  });
});

describe('a hostile input', () => {
  const hostile = JSON.parse('{"__proto__": {"id": 1, "admin": true}, "constructor": 1}') as Row;

  it('with names that objects inherit is refused like one with unknown names', async () => {
    expect(await errorOf('archive', hostile)).toMatchObject({ code: 'invalid_input' });
    expect(await errorOf('create_cards', hostile)).toMatchObject({ code: 'shape' });
    expect(await errorOf('list_cards', hostile)).toMatchObject({ path: '/__proto__' });
    expect(await errorOf('update_cards', { ...hostile, id: 1 })).toMatchObject({ code: 'shape' });
    expect(await errorOf('get_cards', hostile)).toMatchObject({ code: 'shape', path: '/id' });
    expect(await call('rename_card', { ...hostile, id: 1 })).toMatchObject({
      error: { code: 'refused' },
    });
    for (const name of ['__proto__', 'constructor', 'toString', 'x'.repeat(100_000)]) {
      expect(await errorOf(name, {})).toMatchObject({ code: 'unknown_tool' });
    }
    expect(({} as Row).admin).toBeUndefined();
  });

  it('is refused, whatever its depth', async () => {
    const text = `${'{"extra":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const deep = { id: 2, list_id: 1, title: 'deep', extra: JSON.parse(text) };
    for (const name of ['create_cards', 'archive', 'rename_card']) {
      expect((await errorOf(name, deep))?.message).toContain('deeper than 64 levels');
    }
    const { output } = await world.call('state', undefined, { entity: 'svc_requests' });
    expect(JSON.stringify(output).length).toBeLessThan(100_000);
  });

  it('of the maximum size is accepted', async () => {
    const title = 'x'.repeat(1024 * 1024);
    const { output } = await call('create_cards', { id: 2, list_id: 1, title });
    expect(output).toEqual({ id: 2, list_id: 1, title });
  });
});

describe('an unknown tool name', () => {
  it('is refused with the name that was probably meant', async () => {
    expect(await errorOf('archve', {})).toEqual({
      code: 'unknown_tool',
      message: 'the world has no tool "archve"; did you mean "archive"?',
    });
    expect((await errorOf('nothing_like_it', {}))?.message).toContain('known: list_cards');
  });
});

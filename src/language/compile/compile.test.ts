import { describe, expect, it } from 'vitest';
import {
  compileChanged,
  contractOf,
  type SmallWorld,
  smallWorld,
  textFile,
  toTree,
} from '#test/support/worlds/small-world.ts';
import { compileTree } from './compile.ts';

const compiled = () => {
  const result = compileChanged();
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2));
  return result;
};

describe('compileTree', () => {
  it('fills in entities: columns, keys, paths of unique lists, references', () => {
    const [lists, cards] = contractOf().entities;
    expect(lists).toMatchObject({
      name: 'lists',
      primaryKey: ['id'],
      unique: [[['name']]],
      relationships: [],
      columns: [
        { name: 'id', type: 'INTEGER' },
        { name: 'name', type: 'TEXT' },
      ],
    });
    expect(cards?.unique).toEqual([[['author', 'login'], ['title']]]);
    expect(cards?.relationships).toEqual([{ fields: ['list_id'], target: 'lists' }]);
    expect(cards?.columns).toEqual([
      { name: 'id', type: 'INTEGER' },
      { name: 'list_id', type: 'INTEGER' },
      { name: 'title', type: 'TEXT' },
      { name: 'state', type: 'TEXT' },
      { name: 'estimate', type: 'REAL' },
      { name: 'code', type: 'TEXT' },
      { name: 'done_early', type: 'INTEGER' },
      { name: 'created_at', type: 'TEXT' },
    ]);
    expect(cards?.schema.type).toBe('object');
  });

  it('adds definitions of sibling files to the contract', () => {
    const { definitions } = contractOf();
    expect(Object.keys(definitions).sort()).toEqual([
      'Card',
      'Cover',
      'Hook',
      'Id',
      'Receiver',
      'people.json:Login',
      'people.json:Person',
    ]);
    expect(definitions['people.json:Person']).toMatchObject({
      properties: { login: { $ref: '#/$defs/people.json:Login' } },
    });
  });

  it('binds each tool to its first handler or operation', () => {
    const bindings = Object.fromEntries(contractOf().tools.map((t) => [t.name, t.binding]));
    expect(bindings).toEqual({
      summarize: { kind: 'python', file: 'tools.py', function: 'summarize' },
      'cards.archive': { kind: 'typescript', file: 'tools.ts', function: 'cards_archive' },
      get_card: { kind: 'operation', operation: 'get_card' },
      list_cards: { kind: 'convention', verb: 'list', entity: 'cards' },
    });
  });

  it('reads links to other worlds in both forms', () => {
    expect(contractOf().dependencies).toEqual([
      { alias: 'chat', slug: 'team-chat', ref: 'main', task: null, tools: null, entities: [] },
      {
        alias: 'crm',
        slug: 'crm',
        ref: '3',
        task: 'renew',
        tools: ['find_contact'],
        entities: [
          { entity: 'cards', field: 'title', targetEntity: 'deals', targetField: 'name' },
          { entity: 'lists', field: 'id', targetEntity: 'stages', targetField: 'id' },
        ],
      },
    ]);
  });

  it('returns the served page and the actions on a push', () => {
    const { ui, onPush } = contractOf();
    expect(ui).toEqual({ static: 'web/board', entry: '/', apiPath: '/-/api', generated: null });
    expect(onPush).toEqual(['tests']);
  });

  it('keeps the redaction policy with its salt', () => {
    expect(contractOf().redact).toEqual({
      slug: 'board',
      hash: ['login'],
      drop: ['author.email'],
      preserve: ['cards_of.*.code'],
      round: { estimate: 1 },
    });
  });

  it('bundles tasks with any kind of grader', () => {
    const [finish, verified, fromFile, fromManifest] = contractOf().tasks;
    expect(fromFile).toMatchObject({ name: 'queried-too', tools: null, instruction: null });
    expect(fromManifest).toMatchObject({
      name: 'queried',
      tools: ['list_cards'],
      instruction: 'Finish all cards.',
      grader: { kind: 'sql', source: expect.stringContaining('select') },
    });
    expect(finish).toMatchObject({
      name: 'finish',
      instruction: 'Finish card 3.\n',
      seed: { mode: 'append', rows: { cards: [{ id: 3 }] } },
      grader: {
        kind: 'assertions',
        checks: [
          {
            name: 'the card is done',
            entity: 'cards',
            where: { id: 3, state: ['done'], 'author.login': 'ada' },
            count: 1,
          },
          { entity: 'svc_requests', where: { via: 'api', operation: 'close_card' }, count: null },
        ],
      },
    });
    expect(verified).toMatchObject({
      name: 'verified-by-code',
      instruction: null,
      grader: { kind: 'python' },
    });
  });

  it('lets a seed replace the rows of the entities that it names', () => {
    const [finish] = contractOf((world) => {
      const file = 'scenarios/finish/scenario.toml';
      world.text[file] = world.text[file]?.replace('"append"', '"replace"') ?? '';
      const [row] = world.json['scenarios/finish/seed/cards.json'];
      world.json['scenarios/finish/seed/cards.json'] = [{ ...row, id: 1, list_id: 2 }];
    }).tasks;
    expect(finish?.seed).toMatchObject({ mode: 'replace', rows: { cards: [{ id: 1 }] } });
  });

  it('lets a seed merge fields into rows of the world, and checks the result', () => {
    const seeded = (rows: object[]) => (world: SmallWorld) => {
      const file = 'scenarios/finish/scenario.toml';
      world.text[file] = world.text[file]?.replace('"append"', '"merge"') ?? '';
      world.json['scenarios/finish/seed/cards.json'] = rows;
    };
    const [finish] = contractOf(seeded([{ id: 1, list_id: 2 }])).tasks;
    expect(finish?.seed).toEqual({ mode: 'merge', rows: { cards: [{ id: 1, list_id: 2 }] } });
    expect(() => contractOf(seeded([{ id: 1, list_id: 9 }]))).toThrow();
    expect(() => contractOf(seeded([{ id: 1, list_id: 'two' }]))).toThrow();
    expect(() => contractOf(seeded([{ list_id: 2 }]))).toThrow();
  });

  it("returns the world's rows as written", () => {
    const { baseRows } = compiled();
    expect(Object.keys(baseRows)).toEqual(['lists', 'cards']);
    expect(baseRows.lists).toEqual([
      { id: 1, name: 'Next' },
      { id: 2, name: 'Later' },
    ]);
  });

  it('compiles a world without connector, data, scenarios and tools', () => {
    const contract = contractOf((world) => {
      world.json['schema/world.json']['x-svc'].tools = {};
      world.text = {
        'svc-env.toml':
          '[schema]\nlanguage = "svc-world/1"\n[env]\nname = "b"\nkind = "mock-tools"\n[tools]\nserve = []\n',
      };
      for (const file of Object.keys(world.json)) {
        if (!file.startsWith('schema/')) delete world.json[file];
      }
    });
    expect(contract).toMatchObject({ api: null, redact: null, tasks: [], tools: [], name: 'b' });
  });

  it('generates the same bytes for any order of the files', () => {
    const files = toTree(smallWorld());
    const there = compileTree(files);
    const back = compileTree(files.toReversed());
    expect(back).toEqual(there);
  });

  it('replaces generated files that are in the tree', () => {
    const { generated } = compiled();
    const again = compileTree([
      ...toTree(smallWorld()),
      ...generated
        .filter(({ path }) => path !== 'web/board/index.html')
        .map(({ path }) => textFile(path, 'stale')),
    ]);
    expect(again.ok && again.generated).toEqual(generated);
  });

  it('returns tools with self-contained schemas', () => {
    const { generated } = compiled();
    const file = generated.find(({ path }) => path === 'tool-schemas.json');
    const { tools } = JSON.parse(new TextDecoder().decode(file?.content));
    const getCard = tools.find(({ name }: { name: string }) => name === 'get_card');
    expect(getCard.input).toMatchObject({ $defs: { Id: { type: 'integer' } } });
    expect(Object.keys(getCard.output.$defs).sort()).toEqual([
      'Card',
      'Cover',
      'Id',
      'people.json:Login',
      'people.json:Person',
    ]);
    expect(getCard).not.toHaveProperty('binding');
  });

  it('reports all problems at once, in reading order, with lines', () => {
    const result = compileChanged((world) => {
      world.text['connector.toml'] =
        world.text['connector.toml']?.replace('X-Api-Key', 'X Y') ?? '';
      world.text['connector.toml'] += '\n[webhook]\nsubscriptions = "hooks"\n';
      world.json['schema/world.json'].$id = 'board';
      world.json['data/lists.json'][1].nmae = 1;
      world.text['svc-env.toml'] = '[schema]\nlanguage = 1\n';
    });
    const problems = result.ok ? [] : result.problems;
    expect(problems.map(({ file, line, pointer, code }) => [file, line, pointer, code])).toEqual([
      ['connector.toml', 7, '/auth/name', 'bad_value'],
      ['connector.toml', 128, '/webhook', 'unknown_key'],
      ['data/lists.json', 9, '/1/nmae', 'bad_row'],
      ['schema/world.json', 3, '/$id', 'bad_value'],
      ['svc-env.toml', undefined, '/environment', 'missing_key'],
      ['svc-env.toml', undefined, '/tools', 'missing_key'],
      ['svc-env.toml', 2, '/schema/language', 'bad_value'],
    ]);
  });
});

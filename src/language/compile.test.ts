import { describe, expect, it } from 'vitest';
import {
  compileChanged,
  contractOf,
  replaceIn,
  smallWorld,
  textFile,
  toTree,
} from '#test/support/small-world.ts';
import { compileTree } from './compile.ts';
import { plainPaging } from './contract.ts';

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

  it('makes definitions of sibling files its own', () => {
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

  it('binds each tool to the first that answers it', () => {
    const bindings = Object.fromEntries(contractOf().tools.map((t) => [t.name, t.binding]));
    expect(bindings).toEqual({
      summarize: { kind: 'python', file: 'tools.py', function: 'summarize' },
      'cards.archive': { kind: 'typescript', file: 'tools.ts', function: 'cards_archive' },
      get_card: { kind: 'operation', operation: 'get_card' },
      list_cards: { kind: 'convention', verb: 'list', entity: 'cards' },
    });
  });

  it('fills in routes with their defaults', () => {
    const { api } = contractOf();
    const routes = Object.fromEntries((api?.routes ?? []).map((route) => [route.operation, route]));
    expect(Object.keys(routes)).not.toContain('only_captured');
    expect(routes.get_card).toEqual({
      operation: 'get_card',
      method: 'GET',
      path: '/cards/{card_id}',
      segments: [{ literal: 'cards' }, { argument: 'card_id' }],
      params: [],
      entity: 'cards',
      action: 'read',
      filter: [{ argument: 'card_id', path: ['id'], match: 'equals' }],
      handler: null,
      status: 200,
      envelope: '',
      single: true,
      body: [],
      defaults: {},
      generate: [],
      sample: { card_id: 1 },
      page: 'none',
      cursorAbsentWhenDone: false,
      notFound: { status: 404, body: '{"message":"gone"}' },
    });
    expect(routes.search_cards).toMatchObject({
      params: [
        { name: 'state', repeated: false },
        { name: 'login', repeated: false },
        { name: 'label', repeated: false },
        { name: 'title', repeated: false },
        { name: 'ids', repeated: true },
      ],
      filter: [
        { argument: 'state', path: ['state'], match: 'equals' },
        { argument: 'login', path: ['author', 'login'], match: 'equals' },
        { argument: 'label', path: ['labels'], match: 'contains' },
        { argument: 'title', path: ['title'], match: 'prefix' },
        { argument: 'ids', path: ['id'], match: 'equals' },
      ],
      envelope: 'data',
      single: false,
      page: 'cursor',
      cursorAbsentWhenDone: true,
      notFound: { status: 410, body: '' },
    });
    expect(routes.add_card).toMatchObject({
      status: 201,
      single: true,
      body: [
        { field: ['title'], from: ['card', 'title'] },
        { field: ['author', 'login'], from: ['by'] },
        { field: ['labels'], from: ['card', 'labels'] },
      ],
      defaults: { state: 'open', estimate: 1.5 },
      generate: [
        { field: 'id', with: 'int' },
        { field: 'created_at', with: 'now' },
      ],
    });
    expect(routes.close_card).toMatchObject({ status: 200, single: true });
    expect(routes.remove_card).toMatchObject({ status: 204, single: false });
    expect(routes.whoami).toMatchObject({ entity: null, handler: 'who_am_i', status: 203 });
  });

  it("answers the vendor's errors and credential", () => {
    expect(contractOf().api).toMatchObject({
      auth: { scheme: 'header', name: 'X-Api-Key', tokenPath: null, scope: null },
      unauthorized: { status: 401, body: '{"error":"unauthorized"}' },
      notFound: { status: 404, body: '{"message":"gone"}' },
      invalid: { status: 400, body: '{"error":"invalid"}' },
      errorContentType: 'application/json',
      handlers: 'api/handlers.py',
      before: 'check_quota',
      paging: {
        pageSize: 50,
        limitParam: 'limit',
        offsetParam: 'offset',
        cursorParam: 'cursor',
        hitsKey: 'hits',
        cursorKey: 'cursor',
        previousKey: 'previous',
        headers: { total: 'X-Total' },
        links: false,
      },
    });
  });

  it('pages as a connector does that does not speak of it', () => {
    const plain = contractOf((world) => {
      const keys = /^(page_size|previous_key|page_headers) = .*\n/gm;
      world.text['connector.toml'] = world.text['connector.toml']?.replace(keys, '') ?? '';
    });
    expect(plain.api?.paging).toEqual(plainPaging);
  });

  it('mints tokens on the path of the token URL, unless said otherwise', () => {
    const tokenPathOf = (auth: string, api = ''): string | null | undefined =>
      contractOf((world) => {
        replaceIn(world, 'connector.toml', '"header"\nname = "X-Api-Key"', '"oauth2"');
        replaceIn(world, 'connector.toml', '[auth]', `[auth]\nclient_id_env = "ID"\n${auth}`);
        replaceIn(world, 'connector.toml', '[api]', `[api]\n${api}`);
      }).api?.auth.tokenPath;
    expect(tokenPathOf('')).toBe('/oauth/token');
    expect(tokenPathOf('token_url = "/login/token"')).toBe('/login/token');
    expect(tokenPathOf('token_url = "https://id.board.example/t"')).toBe('/t');
    expect(tokenPathOf('token_url = "/login/token"', 'token_path = "/t2"')).toBe('/t2');
  });

  it('says how the vendor is reached and captured', () => {
    const { vendor } = contractOf();
    expect(vendor).toMatchObject({
      slug: 'board',
      baseUrl: 'https://api.board.example/v1',
      auth: {
        scheme: 'header',
        name: 'X-Api-Key',
        secretEnv: 'BOARD_KEY',
        headers: { 'X-Account': 'BOARD_ACCOUNT' },
        tokenUrl: null,
      },
      capture: {
        requestsPerMinute: 60,
        timeoutSeconds: 30,
        maxPages: 3,
        cursor: { param: 'cursor', from: { field: ['meta', 'next'] } },
      },
    });
    expect(vendor?.operations.map(({ name }) => name)).toContain('only_captured');
    expect(vendor?.operations.at(-1)).toMatchObject({
      name: 'list_lists',
      entity: 'lists',
      results: ['data', 'lists'],
      ingest: {
        drop: ['color'],
        carryArgs: [{ field: 'id', argument: 'board_id' }],
        explode: [
          {
            field: ['cards'],
            entity: 'cards',
            carry: [{ field: 'list_id', from: ['id'] }],
            take: [
              { field: 'id', from: ['id'] },
              { field: 'title', from: ['name', 'text'] },
            ],
          },
          { field: ['hook_ids'], entity: 'hooks', carry: [], take: [{ field: 'id', from: [] }] },
        ],
      },
    });
  });

  it('takes a list of names for what is taken from an item, and all of it without', () => {
    const takeOf = (take: string) =>
      contractOf((world) =>
        replaceIn(world, 'connector.toml', 'take = { id = "" }', take),
      ).vendor?.operations.at(-1)?.ingest.explode[1]?.take;
    expect(takeOf('take = ["id", "active"]')).toEqual([
      { field: 'id', from: ['id'] },
      { field: 'active', from: ['active'] },
    ]);
    expect(takeOf('')).toBeNull();
  });

  it('knows where subscriptions are and how deliveries are signed', () => {
    expect(contractOf().webhooks).toEqual({
      subscriptions: 'hooks',
      url: ['config', 'url'],
      events: ['events'],
      secret: ['config', 'secret'],
      enabled: ['active'],
      scope: [{ name: 'list', path: ['lists'] }],
      signing: 'github',
      headers: {
        event: 'x-github-event',
        id: 'x-github-delivery',
        signature: 'x-hub-signature-256',
      },
    });
  });

  it.each([
    ['"standard-webhooks"', 'webhook-id webhook-timestamp webhook-signature'],
    ['"scheme-a"', 'board-id board-timestamp board-signature'],
    ['"scheme-a"\nprefix = "Acme"', 'acme-id acme-timestamp acme-signature'],
    ['"github"\nprefix = "acme"', 'x-acme-event x-acme-delivery x-acme-signature-256'],
    ['"scheme-b"', 'x-board-event x-board-delivery x-board-signature-256'],
    ['"linear"', 'linear-event linear-delivery linear-signature'],
    ['"scheme-c"', 'board-event board-delivery board-signature'],
    ['"stripe"', 'stripe-signature'],
    ['"scheme-d"\nprefix = "pay"', 'pay-signature'],
    ['"hmac-sha256"\nsignature_header = "X-Sign"', 'x-sign'],
    ['"none"', ''],
  ])('names the headers of signing = %s', (signing, names) => {
    const { webhooks } = contractOf((world) =>
      replaceIn(world, 'connector.toml', 'signing = "github"', `signing = ${signing}`),
    );
    expect(Object.values(webhooks?.headers ?? {}).join(' ')).toBe(names);
  });

  it('reads links to other worlds in both forms', () => {
    expect(contractOf().dependencies).toEqual([
      { alias: 'chat', slug: 'team-chat', ref: 'main', task: null, tools: [], entities: [] },
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

  it('says which page is served and what a push runs', () => {
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

  it("answers the world's rows as written", () => {
    const { baseRows } = compiled();
    expect(Object.keys(baseRows)).toEqual(['lists', 'cards']);
    expect(baseRows.lists).toEqual([
      { id: 1, name: 'Next' },
      { id: 2, name: 'Later' },
    ]);
  });

  it('does without connector, data, scenarios and tools', () => {
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

  it('generates the same bytes whatever the order of the files', () => {
    const files = toTree(smallWorld());
    const there = compileTree(files);
    const back = compileTree(files.toReversed());
    expect(back).toEqual(there);
  });

  it('takes its own generated files back in and replaces them', () => {
    const { generated } = compiled();
    const again = compileTree([
      ...toTree(smallWorld()),
      ...generated
        .filter(({ path }) => path !== 'web/board/index.html')
        .map(({ path }) => textFile(path, 'stale')),
    ]);
    expect(again.ok && again.generated).toEqual(generated);
  });

  it('shows tools with schemas that stand alone', () => {
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

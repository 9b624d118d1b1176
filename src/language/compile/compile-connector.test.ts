/** Tests the parts of a contract that come from `connector.toml`: routes, the vendor, its captures, its webhooks. */
import { describe, expect, it } from 'vitest';
import { contractOf, replaceIn } from '#test/support/worlds/small-world.ts';
import { plainPaging } from '../contract.ts';

describe('compileTree', () => {
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

  it('adds no envelope to a handler that answers one object, and keeps the schemas that it declares', () => {
    const whoami = (lines: string) =>
      contractOf((world) => {
        replaceIn(world, 'connector.toml', 'status = 203', `status = 203\n${lines}`);
      }).api?.routes.find(({ operation }) => operation === 'whoami');
    expect(whoami('')).toMatchObject({ envelope: 'data' });
    expect(whoami('single = true')).toMatchObject({ envelope: '' });
    expect(whoami('single = true\nenvelope = "me"')).toMatchObject({ envelope: 'me' });
    expect(whoami('')).not.toHaveProperty('response');
    expect(whoami('response = "people.json:Person[]"')).toMatchObject({
      response: { type: 'array', items: { $ref: '#/$defs/people.json:Person' } },
    });
  });

  it("returns the vendor's errors and credential scheme", () => {
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

  it('adds default paging if the connector declares none', () => {
    const plain = contractOf((world) => {
      const keys = /^(page_size|previous_key|page_headers) = .*\n/gm;
      world.text['connector.toml'] = world.text['connector.toml']?.replace(keys, '') ?? '';
    });
    expect(plain.api?.paging).toEqual(plainPaging);
  });

  it('sets the path for minting tokens to that of the token URL, unless another path is given', () => {
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

  it("returns the vendor's address, and the settings of captures", () => {
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

  it('reads the listed fields of an item, or all fields if none are listed', () => {
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

  it('returns the entity of subscriptions and the signing of deliveries', () => {
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
});

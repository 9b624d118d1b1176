/** Credentials, users, organizations and repositories of the code host, through the vendor client. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CodeHost,
  documentation_url,
  errorOf,
  invalid,
  notFound,
  repository,
  seconds,
  serveCodeHost,
} from '#test/support/code-hosting.ts';

let world: CodeHost;

beforeAll(async () => {
  world = await serveCodeHost();
});
beforeEach(() => world.reset());
afterAll(() => world?.stop());

describe('credentials', () => {
  it('refuses a request without a token in the vendor shape', async () => {
    const expected = {
      status: 401,
      data: { message: 'Bad credentials', documentation_url, status: '401' },
    };
    expect(await errorOf(world.clientWith(undefined).repos.get(repository))).toEqual(expected);
    expect(await errorOf(world.clientWith('wrong').repos.get(repository))).toEqual(expected);
  });
});

describe('users and repositories', () => {
  it('tells who the token belongs to', async () => {
    const { data } = await world.client().users.getAuthenticated();
    expect(data).toMatchObject({
      login: 'quay-triage',
      id: 50216644,
      two_factor_authentication: true,
    });
  });

  it('answers a user', async () => {
    const { data } = await world.client().users.getByUsername({ username: 'mikkelh' });
    expect(data).toMatchObject({ login: 'mikkelh', name: 'Mikkel Holst', type: 'User' });
    expect(await errorOf(world.client().users.getByUsername({ username: 'nobody' }))).toEqual(
      notFound,
    );
  });

  it('answers a repository with its owner and counts', async () => {
    const { data } = await world.client().repos.get(repository);
    expect(data).toMatchObject({
      full_name: 'northquay/berth',
      owner: { login: 'northquay', type: 'Organization' },
      open_issues_count: 28,
      default_branch: 'main',
      visibility: 'public',
      issues_url: 'https://api.code.example/repos/northquay/berth/issues{/number}',
    });
    expect(data.node_id).toMatch(/^R_kgDO/);
    expect(await errorOf(world.client().repos.get({ owner: 'northquay', repo: 'none' }))).toEqual(
      notFound,
    );
  });

  it('lists the repositories of an organization and of a user', async () => {
    const organization = await world.client().repos.listForOrg({ org: 'northquay' });
    expect(organization.data.map(({ name }) => name)).toEqual(['tide-feed', 'handbook', 'berth']);
    const user = await world.client().repos.listForUser({ username: 'mikkelh' });
    expect(user.data.map(({ full_name }) => full_name)).toEqual(['mikkelh/marstal-tides']);
    expect(await errorOf(world.client().repos.listForOrg({ org: 'mikkelh' }))).toEqual(notFound);
  });
});

describe('autolinks', () => {
  it('are listed, made, got and deleted', async () => {
    const { status, data } = await world.client().repos.createAutolink({
      ...repository,
      key_prefix: 'INC-',
      url_template: 'https://status.northquay.example/<num>',
    });
    expect(status).toBe(201);
    expect(data).toMatchObject({ id: 58, key_prefix: 'INC-', is_alphanumeric: true });
    expect(data.updated_at).toMatch(seconds);
    const listed = await world.client().repos.listAutolinks(repository);
    expect(listed.data.map(({ key_prefix }) => key_prefix)).toEqual(['SUP-', 'INC-']);
    const autolink = { ...repository, autolink_id: data.id };
    expect((await world.client().repos.getAutolink(autolink)).data).toEqual(data);
    expect((await world.client().repos.deleteAutolink(autolink)).status).toBe(204);
    expect(await errorOf(world.client().repos.getAutolink(autolink))).toEqual(notFound);
  });

  it('refuses a prefix twice and a template without its place', async () => {
    const taken = { ...repository, key_prefix: 'SUP-', url_template: 'https://x.example/<num>' };
    expect(await errorOf(world.client().repos.createAutolink(taken))).toEqual(invalid());
    const plain = { ...repository, key_prefix: 'X-', url_template: 'https://x.example/' };
    expect(await errorOf(world.client().repos.createAutolink(plain))).toEqual(invalid());
  });
});

describe('the limit on requests', () => {
  it('is told with every answer, whether a row, a handler or an error gives it', async () => {
    for (const path of ['/users/mikkelh', '/user', '/repos/northquay/none', '/users/nobody']) {
      const { response } = await world.ask('GET', path);
      expect([path, response.headers.get('x-ratelimit-limit')]).toEqual([path, '5000']);
      expect(response.headers.get('x-ratelimit-remaining')).toBe('4999');
      expect(response.headers.get('x-ratelimit-used')).toBe('1');
      expect(response.headers.get('x-ratelimit-resource')).toBe('core');
      expect(Number(response.headers.get('x-ratelimit-reset')) * 1_000).toBeGreaterThan(Date.now());
    }
    const search = await world.client().search.users({ q: 'mikkel' });
    expect(search.headers).toMatchObject({
      'x-ratelimit-limit': '30',
      'x-ratelimit-resource': 'search',
    });
    const { data } = await world.client().rateLimit.get();
    expect(data.rate).toMatchObject({ limit: 5_000, remaining: 5_000, used: 0 });
    expect(data.resources.search.limit).toBe(30);
  });
});

describe('conditional requests', () => {
  it('answer 304 until something changes', async () => {
    const first = await world.client().repos.get(repository);
    const headers = { 'if-none-match': first.headers.etag ?? '' };
    expect(headers['if-none-match']).toMatch(/^W\/"/);
    expect((await errorOf(world.client().repos.get({ ...repository, headers }))).status).toBe(304);
    await world.client().repos.update({ ...repository, description: 'For harbours.' });
    const changed = await world.client().repos.get({ ...repository, headers });
    expect(changed.data.description).toBe('For harbours.');
  });
});

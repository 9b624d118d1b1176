/** Tests credentials, users, organizations and repositories of the code host, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import {
  documentation_url,
  errorOf,
  invalid,
  notFound,
  refused,
  repository,
  seconds,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

describe('credentials', () => {
  it('are required: a request without a token is refused in the vendor’s form', async () => {
    const expected = {
      status: 401,
      data: { message: 'Bad credentials', documentation_url, status: '401' },
    };
    expect(await errorOf(world.clientWith(undefined).repos.get(repository))).toEqual(expected);
    expect(await errorOf(world.clientWith('wrong').repos.get(repository))).toEqual(expected);
  });
});

describe('users and repositories', () => {
  it('include the user of the token', async () => {
    const { data } = await world.client().users.getAuthenticated();
    expect(data).toMatchObject({
      login: 'quay-triage',
      id: 50216644,
      two_factor_authentication: true,
    });
  });

  it('include every user by name', async () => {
    const { data } = await world.client().users.getByUsername({ username: 'mikkelh' });
    expect(data).toMatchObject({ login: 'mikkelh', name: 'Mikkel Holst', type: 'User' });
    expect(await errorOf(world.client().users.getByUsername({ username: 'nemo' }))).toEqual(
      notFound,
    );
  });

  it('include repositories with owner and counts', async () => {
    const { data } = await world.client().repos.get(repository);
    expect(data).toMatchObject({
      full_name: 'northquay/berth',
      owner: { login: 'northquay', type: 'Organization' },
      open_issues_count: 28,
      default_branch: 'main',
      visibility: 'public',
      issues_url: `${world.url}/repos/northquay/berth/issues{/number}`,
    });
    expect(data.node_id).toMatch(/^R_kgDO/);
    expect(await errorOf(world.client().repos.get({ owner: 'northquay', repo: 'none' }))).toEqual(
      notFound,
    );
  });

  it('are listed for an organization and for a user', async () => {
    const organization = await world.client().repos.listForOrg({ org: 'northquay' });
    expect(organization.data.map(({ name }) => name)).toEqual(['tide-feed', 'handbook', 'berth']);
    const user = await world.client().repos.listForUser({ username: 'mikkelh' });
    expect(user.data.map(({ full_name }) => full_name)).toEqual(['mikkelh/marstal-tides']);
    expect(await errorOf(world.client().repos.listForOrg({ org: 'mikkelh' }))).toEqual(notFound);
  });
});

describe('autolinks', () => {
  it('are listed, created, read and deleted', async () => {
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

  it('are found by their names in upper or lower case', async () => {
    const other = { owner: 'NorthQuay', repo: 'BERTH' };
    const { data } = await world.client().repos.listAutolinks(other);
    expect(data.map(({ id }) => id)).toEqual([41]);
    expect(data[0]).not.toHaveProperty('owner');
    const made = await world.client().repos.createAutolink({
      ...other,
      key_prefix: 'X-',
      url_template: 'https://x.example/<num>',
    });
    expect(world.rows('autolinks', { id: made.data.id })).toMatchObject([repository]);
    const elsewhere = { owner: 'northquay', repo: 'handbook', autolink_id: made.data.id };
    expect(await errorOf(world.client().repos.getAutolink(elsewhere))).toEqual(notFound);
  });

  it.each<[string, Row, Row]>([
    ['a prefix twice', { key_prefix: 'SUP-' }, { field: 'key_prefix', code: 'already_exists' }],
    ['no prefix', { key_prefix: '' }, { field: 'key_prefix', code: 'missing_field' }],
    [
      'a long prefix',
      { key_prefix: 'X'.repeat(33) },
      {
        field: 'key_prefix',
        code: 'custom',
        message: 'key_prefix is too long (maximum is 32 characters)',
      },
    ],
    [
      'a template without its place',
      { url_template: 'https://x.example/' },
      {
        field: 'url_template',
        code: 'custom',
        message: 'url_template must contain a <num> token',
      },
    ],
    [
      'a word for a flag',
      { is_alphanumeric: 'yes' },
      { field: 'is_alphanumeric', code: 'invalid' },
    ],
  ])('are refused with %s, and the field is named', async (_, fields, error) => {
    const body = { key_prefix: 'X-', url_template: 'https://x.example/<num>', ...fields };
    const made = world.client().repos.createAutolink({ ...repository, ...body } as never);
    expect(await errorOf(made)).toEqual(invalid({ resource: 'KeyLink', ...error }));
  });
});

describe('the limit on requests', () => {
  it('is reported in every answer, whether of a row, a handler or an error', async () => {
    for (const path of ['/users/mikkelh', '/user', '/repos/northquay/none', '/users/nemo']) {
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
  it('are answered 304 until something changes', async () => {
    const first = await world.client().repos.get(repository);
    const headers = { 'if-none-match': first.headers.etag ?? '' };
    expect(headers['if-none-match']).toMatch(/^W\/"/);
    expect((await errorOf(world.client().repos.get({ ...repository, headers }))).status).toBe(304);
    await world.client().repos.update({ ...repository, description: 'For harbours.' });
    const changed = await world.client().repos.get({ ...repository, headers });
    expect(changed.data.description).toBe('For harbours.');
  });
});

describe('own repositories', () => {
  it('are listed together with the repositories of the organization', async () => {
    const list = async (
      query: Parameters<ReturnType<typeof world.client>['repos']['listForAuthenticatedUser']>[0],
    ) => (await world.client().repos.listForAuthenticatedUser(query)).data.map(({ name }) => name);
    expect(await list({})).toEqual(['berth', 'handbook', 'tide-feed']);
    expect(await list({ visibility: 'private' })).toEqual(['handbook']);
    expect(await list({ affiliation: 'owner' })).toEqual([]);
    expect(await list({ sort: 'created' })).toEqual(['tide-feed', 'handbook', 'berth']);
    await world.client().repos.createForAuthenticatedUser({ name: 'notes' });
    expect(await list({ affiliation: 'owner' })).toEqual(['notes']);
  });

  it('are created, empty or with a first commit', async () => {
    const { status, data, headers } = await world
      .client()
      .repos.createInOrg({ org: 'northquay', name: 'harbour lights', private: true });
    expect(status).toBe(201);
    expect(headers.location).toBe(data.url);
    expect(data).toMatchObject({
      full_name: 'northquay/harbour-lights',
      visibility: 'private',
      default_branch: 'main',
      permissions: { admin: true },
    });
    const lights = { owner: 'northquay', repo: 'harbour-lights' };
    expect((await world.client().repos.listBranches(lights)).data).toEqual([]);
    const asked = { name: 'notes', auto_init: true };
    const notes = await world.client().repos.createForAuthenticatedUser(asked);
    const own = { owner: notes.data.owner.login, repo: 'notes' };
    const branches = await world.client().repos.listBranches(own);
    expect(branches.data.map(({ name }) => name)).toEqual(['main']);
    const twice = world.client().repos.createForAuthenticatedUser(asked);
    expect(await errorOf(twice)).toEqual(
      invalid({
        message: 'name already exists on this account',
        resource: 'Repository',
        field: 'name',
        code: 'custom',
      }),
    );
    const me = await world.client().users.getAuthenticated();
    expect(me.data.public_repos).toBe(1);
  });

  it('can be changed', async () => {
    const { data } = await world.client().repos.update({
      ...repository,
      homepage: 'https://berth.example/new',
      has_wiki: true,
      default_branch: 'temporal-flag',
    });
    expect(data).toMatchObject({
      homepage: 'https://berth.example/new',
      has_wiki: true,
      allow_squash_merge: true,
      default_branch: 'temporal-flag',
    });
    const wrong = world.client().repos.update({ ...repository, default_branch: 'none' });
    expect(await errorOf(wrong)).toEqual(
      invalid({ resource: 'Repository', field: 'default_branch', code: 'invalid' }),
    );
  });

  it('can have topics', async () => {
    const names = ['boats', 'Harbour', 'boats'];
    const { data } = await world.client().repos.replaceAllTopics({ ...repository, names });
    expect(data.names).toEqual(['boats', 'harbour']);
    expect((await world.client().repos.getAllTopics(repository)).data.names).toEqual(data.names);
    const odd = world.client().repos.replaceAllTopics({ ...repository, names: ['with space'] });
    expect((await errorOf(odd)).status).toBe(422);
  });

  it.each(['berth', 'tide-feed', 'handbook'])(
    'are deleted with all their contents: %s',
    async (repo) => {
      const gone = { owner: 'northquay', repo };
      expect((await world.client().repos.delete(gone)).status).toBe(204);
      expect(await errorOf(world.client().repos.get(gone))).toEqual(notFound);
      expect(world.rows('issues', gone)).toEqual([]);
      expect(world.rows('commits', gone)).toEqual([]);
    },
  );

  it('that are deleted and created again number their issues from 1', async () => {
    const [org, name] = ['northquay', 'again'];
    const again = { owner: org, repo: name };
    const ids: number[] = [];
    for (const round of ['first', 'second']) {
      await world.client().repos.createInOrg({ org, name });
      const { data } = await world.client().issues.create({ ...again, title: round });
      expect(data.number).toBe(1);
      ids.push(data.id);
      await world.client().repos.delete(again);
    }
    expect(new Set(ids).size).toBe(2);
  });
});

describe('repositories of another user', () => {
  const foreign = { owner: 'mikkelh', repo: 'marstal-tides' };
  const forbidden = refused(403, 'Must have admin rights to Repository.');

  it('can be read, and get only those issues and comments that any user may write', async () => {
    const { data } = await world.client().repos.get(foreign);
    expect(data.permissions).toMatchObject({ admin: false, push: false, pull: true });
    const asked = { ...foreign, title: 'Show knots', labels: ['new'], assignees: ['mikkelh'] };
    const issue = await world.client().issues.create(asked);
    expect(issue.data).toMatchObject({
      number: 3,
      labels: [],
      assignees: [],
      author_association: 'NONE',
    });
    const own = { ...foreign, issue_number: 3 };
    expect((await world.client().issues.update({ ...own, title: 'Knots' })).data.title).toBe(
      'Knots',
    );
    await world.client().issues.createComment({ ...foreign, issue_number: 2, body: 'Same here.' });
  });

  it('cannot be managed', async () => {
    const issue = { ...foreign, issue_number: 2 };
    expect(await errorOf(world.client().repos.delete(foreign))).toEqual(forbidden);
    expect(await errorOf(world.client().repos.update({ ...foreign, has_wiki: true }))).toEqual(
      forbidden,
    );
    expect(await errorOf(world.client().issues.addLabels({ ...issue, labels: ['a'] }))).toEqual(
      forbidden,
    );
    expect(await errorOf(world.client().issues.update({ ...issue, state: 'closed' }))).toEqual(
      forbidden,
    );
    expect(
      await errorOf(world.client().issues.createMilestone({ ...foreign, title: '1' })),
    ).toEqual(forbidden);
  });
});

describe('organizations', () => {
  it('have a list of their members', async () => {
    const { data } = await world.client().orgs.get({ org: 'northquay' });
    expect(data).toMatchObject({ login: 'northquay', name: 'Northquay', type: 'Organization' });
    const members = async (query: object = {}) =>
      (await world.client().orgs.listMembers({ org: 'northquay', ...query })).data.map(
        ({ login }) => login,
      );
    expect(await members()).toHaveLength(6);
    expect(await members({ role: 'admin' })).toEqual(['inesmarchetti', 'quay-triage']);
    const visible = await world.client().orgs.listPublicMembers({ org: 'northquay' });
    expect(visible.data).toHaveLength(3);
    const sam = { org: 'northquay', username: 'sam-okafor' };
    expect((await world.client().orgs.checkMembershipForUser(sam)).status).toBe(204);
    expect((await errorOf(world.client().orgs.checkPublicMembershipForUser(sam))).status).toBe(404);
    const role = await world.client().orgs.getMembershipForUser(sam);
    expect(role.data).toMatchObject({ role: 'member', state: 'active' });
    const own = await world.client().orgs.getMembershipForAuthenticatedUser({ org: 'northquay' });
    expect(own.data.role).toBe('admin');
  });

  it('are listed for a member', async () => {
    const own = await world.client().orgs.listForAuthenticatedUser();
    expect(own.data.map(({ login }) => login)).toEqual(['northquay']);
    const hidden = await world.client().orgs.listForUser({ username: 'sam-okafor' });
    expect(hidden.data).toEqual([]);
    const users = await world.client().users.list({ since: 22904518, per_page: 2 });
    expect(users.data.map(({ login }) => login)).toEqual(['mikkelh', 'cdubois-stmalo']);
  });
});

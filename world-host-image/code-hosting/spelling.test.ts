/**
 * Tests names whose letters differ in case: owners, repositories, users and labels are found, and the answers have the
 * original spelling.
 */
import { describe, expect, it } from 'vitest';
import { errorOf, invalid, names, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const shouted = { owner: 'NORTHQUAY', repo: 'Berth' };

describe('names in a path', () => {
  it.each([
    ['/repos/NorthQuay/BERTH', { full_name: 'northquay/berth' }],
    [
      '/repos/NorthQuay/BERTH/issues/139',
      { number: 139, repository_url: expect.stringMatching(/northquay\/berth$/) },
    ],
    ['/repos/NorthQuay/BERTH/issues/139/comments', expect.any(Array)],
    ['/repos/NorthQuay/BERTH/labels/BUG', { name: 'bug' }],
    ['/repos/NorthQuay/BERTH/milestones/3', { number: 3 }],
    ['/repos/NorthQuay/BERTH/pulls/150', { number: 150 }],
    ['/repos/NorthQuay/BERTH/pulls/150/reviews', expect.any(Array)],
    ['/repos/NorthQuay/BERTH/branches/main', { name: 'main' }],
    ['/users/Sam-Okafor', { login: 'sam-okafor' }],
    ['/users/MIKKELH/repos', [{ full_name: 'mikkelh/marstal-tides' }]],
    ['/orgs/NORTHQUAY', { login: 'northquay' }],
    ['/orgs/NORTHQUAY/memberships/SAM-OKAFOR', { user: { login: 'sam-okafor' } }],
    ['/user/memberships/orgs/NORTHQUAY', { organization: { login: 'northquay' } }],
  ])('are found in upper or lower case in %s', async (path, expected) => {
    const { response, body } = await world.ask('GET', path);
    expect(response.status).toBe(200);
    expect(body).toMatchObject(expected);
  });

  it.each([
    ['members', 'QUAY-TRIAGE'],
    ['public_members', 'PriyaRaman'],
  ])('are found in upper or lower case in %s of an organization', async (members, login) => {
    const path = `/orgs/NORTHQUAY/${members}/${login}`;
    expect((await world.ask('GET', path)).response.status).toBe(204);
  });

  it('are not found if a letter differs by more than its case', async () => {
    expect((await world.ask('GET', '/repos/northquay/bert')).response.status).toBe(404);
    expect((await world.ask('GET', '/repos/northquay/berth/branches/MAIN')).response.status).toBe(
      404,
    );
  });
});

describe('names in a query', () => {
  it('select rows in upper or lower case', async () => {
    const client = world.client();
    const list = async (more: object) =>
      (await client.issues.listForRepo({ ...shouted, per_page: 100, ...more })).data.length;
    const pairs = [
      [{ labels: 'bug' }, { labels: 'BUG' }],
      [{ assignee: 'sam-okafor' }, { assignee: 'Sam-Okafor' }],
      [{ creator: 'mikkelh' }, { creator: 'MikkelH' }],
    ];
    for (const [small = {}, large = {}] of pairs) {
      expect(await list(small)).toBeGreaterThan(0);
      expect(await list(large)).toBe(await list(small));
    }
    const pulls = await client.pulls.list({
      ...shouted,
      head: 'NorthQuay:danish-plads',
      state: 'all',
    });
    expect(pulls.data.map(({ head }) => head.ref)).toEqual(['danish-plads']);
    const found = async (q: string) =>
      (await client.search.issuesAndPullRequests({ q })).data.total_count;
    const small = await found('repo:northquay/berth is:open label:security author:mikkelh');
    const large = await found('repo:NorthQuay/Berth is:open label:SECURITY author:MIKKELH');
    expect(large).toBe(small);
  });
});

describe('names in a body', () => {
  it('are stored in their canonical spelling', async () => {
    const { data } = await world.client().issues.create({
      ...shouted,
      title: 'A',
      labels: ['BUG', 'bug'],
      assignees: ['Sam-Okafor'],
    });
    expect(names(data.labels)).toEqual(['bug']);
    expect(data.assignees?.map(({ login }) => login)).toEqual(['sam-okafor']);
    expect(data.url).toContain('/repos/northquay/berth/');
    const on = { ...shouted, issue_number: data.number };
    const changed = await world
      .client()
      .issues.removeAssignees({ ...on, assignees: ['SAM-OKAFOR'] });
    expect(changed.data.assignees).toEqual([]);
    await world.client().issues.lock({ ...on, lock_reason: 'resolved' });
    const locked = await world.client().issues.get(on);
    expect([locked.data.locked, locked.data.active_lock_reason]).toEqual([true, 'resolved']);
    await world.client().issues.unlock(on);
    expect((await world.client().issues.get(on)).data.locked).toBe(false);
  });

  it('can name issues of other repositories', async () => {
    await world.client().issues.createComment({
      ...{ owner: 'northquay', repo: 'handbook', issue_number: 22 },
      body: 'As in NorthQuay/BERTH#139',
    });
    const { data } = await world.client().issues.listEventsForTimeline({
      ...{ ...shouted, issue_number: 139 },
      per_page: 100,
    });
    expect(data.map(({ event }) => event)).toContain('cross-referenced');
  });

  it('count as taken even if their letters differ in case', async () => {
    const created = await errorOf(
      world.client().repos.createInOrg({ org: 'NorthQuay', name: 'BERTH' }),
    );
    const message = 'name already exists on this account';
    expect(created).toEqual(
      invalid({ resource: 'Repository', field: 'name', code: 'custom', message }),
    );
    expect(await errorOf(world.client().issues.createLabel({ ...shouted, name: 'Bug' }))).toEqual(
      invalid({ resource: 'Label', field: 'name', code: 'already_exists' }),
    );
    const label = { ...shouted, name: 'bug', new_name: 'Bug' };
    expect((await world.client().issues.updateLabel(label)).data.name).toBe('Bug');
  });
});

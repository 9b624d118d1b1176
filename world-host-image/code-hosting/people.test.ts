/** Tests collaborators, teams, notifications and reactions of the code host, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  invalid,
  notFound,
  on,
  pull,
  refused,
  repository,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();
const logins = (rows: readonly { login?: string }[]) => rows.map(({ login }) => login);

describe('collaborators', () => {
  it('have the permissions of their organization and teams', async () => {
    const { data } = await world.client().repos.listCollaborators(repository);
    expect(data.map(({ login, role_name }) => [login, role_name])).toEqual([
      ['sam-okafor', 'maintain'],
      ['inesmarchetti', 'admin'],
      ['tobias-wendt', 'maintain'],
      ['priyaraman', 'write'],
      ['jonas-eide', 'write'],
      ['quay-triage', 'admin'],
    ]);
    const admins = { ...repository, permission: 'admin' as const };
    const able = await world.client().repos.listCollaborators(admins);
    expect(logins(able.data)).toEqual(['inesmarchetti', 'quay-triage']);
    const level = async (username: string, repo = 'berth') =>
      (
        await world
          .client()
          .repos.getCollaboratorPermissionLevel({ owner: 'northquay', repo, username })
      ).data.permission;
    expect(await level('Sam-Okafor')).toBe('write');
    expect(await level('mikkelh')).toBe('read');
    expect(await level('mikkelh', 'handbook')).toBe('none');
    expect(await errorOf(level('nemo'))).toEqual(notFound);
  });

  it('can be invited from outside the organization, and removed', async () => {
    const mikkel = { ...repository, username: 'mikkelh' };
    expect((await errorOf(world.client().repos.checkCollaborator(mikkel))).status).toBe(404);
    const asked = await world.client().repos.addCollaborator({ ...mikkel, permission: 'triage' });
    expect(asked.status).toBe(201);
    expect(asked.data).toMatchObject({ permissions: 'triage', invitee: { login: 'mikkelh' } });
    const sam = { ...repository, username: 'sam-okafor' };
    expect((await world.client().repos.addCollaborator(sam)).status).toBe(204);
    expect((await world.client().repos.checkCollaborator(sam)).status).toBe(204);
    const invitation = { ...repository, invitation_id: asked.data.id };
    const changed = await world
      .client()
      .repos.updateInvitation({ ...invitation, permissions: 'write' });
    expect(changed.data.permissions).toBe('write');
    await world.client().repos.removeCollaborator(mikkel);
    expect((await world.client().repos.listInvitations(repository)).data).toEqual([]);
    const foreign = { owner: 'mikkelh', repo: 'marstal-tides' };
    expect(await errorOf(world.client().repos.listCollaborators(foreign))).toEqual(
      refused(403, 'Must have push access to view repository collaborators.'),
    );
  });
});

describe('teams', () => {
  const product = { org: 'northquay', team_slug: 'product' };

  it('are listed with their members and repositories', async () => {
    const { data } = await world.client().teams.list({ org: 'northquay' });
    expect(data.map(({ slug }) => slug)).toEqual(['product', 'platform']);
    const members = await world.client().teams.listMembersInOrg({ ...product, role: 'maintainer' });
    expect(logins(members.data)).toEqual(['inesmarchetti']);
    const shared = await world.client().repos.listTeams({ owner: 'northquay', repo: 'handbook' });
    expect(shared.data).toMatchObject([{ slug: 'platform', permission: 'push' }]);
    expect((await world.client().teams.listForAuthenticatedUser()).data).toEqual([]);
    expect(await errorOf(world.client().teams.getByName({ ...product, team_slug: 'x' }))).toEqual(
      notFound,
    );
  });

  it('are created, changed and deleted', async () => {
    const made = await world
      .client()
      .teams.create({ org: 'northquay', name: 'Customer Care', repo_names: ['northquay/berth'] });
    expect([made.status, made.data.slug]).toEqual([201, 'customer-care']);
    expect(made.data).toMatchObject({ members_count: 1, repos_count: 1 });
    const care = { org: 'northquay', team_slug: 'customer-care' };
    const own = await world.client().teams.listForAuthenticatedUser();
    expect(own.data.map(({ slug }) => slug)).toEqual(['customer-care']);
    const twice = world.client().teams.create({ org: 'northquay', name: 'customer care' });
    expect((await errorOf(twice)).status).toBe(422);
    const odd = world
      .client()
      .teams.create({ org: 'northquay', name: 'A', repo_names: 5 as never });
    expect(await errorOf(odd)).toEqual(
      invalid({ resource: 'Team', field: 'repo_names', code: 'invalid' }),
    );
    const jonas = { ...care, username: 'jonas-eide' };
    const joined = await world.client().teams.addOrUpdateMembershipForUserInOrg(jonas);
    expect(joined.data).toMatchObject({ role: 'member', state: 'active' });
    const stranger = { ...care, username: 'mikkelh' };
    const refusal = world.client().teams.addOrUpdateMembershipForUserInOrg(stranger);
    expect((await errorOf(refusal)).status).toBe(422);
    expect((await world.client().teams.removeMembershipForUserInOrg(jonas)).status).toBe(204);
    const feed = { ...care, owner: 'northquay', repo: 'tide-feed' };
    await world.client().teams.addOrUpdateRepoPermissionsInOrg({ ...feed, permission: 'admin' });
    const repos = await world.client().teams.listReposInOrg(care);
    expect(repos.data.map(({ name, role_name }) => [name, role_name])).toEqual([
      ['berth', 'read'],
      ['tide-feed', 'admin'],
    ]);
    await world.client().teams.updateInOrg({ ...care, description: 'Answers.', privacy: 'closed' });
    expect((await world.client().teams.deleteInOrg(care)).status).toBe(204);
    expect(await errorOf(world.client().teams.getByName(care))).toEqual(notFound);
  });

  it('can be requested as reviewers like people', async () => {
    const asked = { ...pull(153), team_reviewers: ['platform'] };
    const { data } = await world.client().pulls.requestReviewers({ ...asked, reviewers: [] });
    expect(data.requested_teams?.map(({ slug }) => slug)).toEqual(['platform']);
    const waiting = await world.client().pulls.listRequestedReviewers(pull(153));
    expect(waiting.data.teams.map(({ slug }) => slug)).toEqual(['platform']);
    await world.client().pulls.removeRequestedReviewers({ ...asked, reviewers: [] });
    expect(world.rows('team_review_requests', repository)).toEqual([]);
    const wrong = { ...pull(153), reviewers: [], team_reviewers: ['none'] };
    expect((await errorOf(world.client().pulls.requestReviewers(wrong))).status).toBe(422);
  });
});

describe('notifications', () => {
  type Query = Parameters<
    ReturnType<typeof world.client>['activity']['listNotificationsForAuthenticatedUser']
  >[0];
  const list = async (query: Query = {}) =>
    (await world.client().activity.listNotificationsForAuthenticatedUser(query)).data;

  it('are unread until they are marked as read', async () => {
    const unread = await list();
    expect(unread.map(({ subject, reason }) => [subject.type, reason])).toEqual([
      ['PullRequest', 'review_requested'],
      ['Issue', 'mention'],
      ['PullRequest', 'subscribed'],
    ]);
    expect(unread[0]?.subject.url).toMatch(/\/pulls\/156$/);
    expect(await list({ all: true })).toHaveLength(4);
    expect(await list({ participating: true })).toHaveLength(2);
    expect(await list({ since: '2025-11-14T00:00:00Z' })).toHaveLength(1);
    const thread = { thread_id: Number(unread[0]?.id) };
    expect((await world.client().activity.markThreadAsRead(thread)).status).toBe(205);
    expect((await world.client().activity.getThread(thread)).data.unread).toBe(false);
    const feed = { owner: 'northquay', repo: 'tide-feed', all: true };
    const ofFeed = await world.client().activity.listRepoNotificationsForAuthenticatedUser(feed);
    expect(ofFeed.data).toHaveLength(1);
    for (const last_read_at of [{}, '', 20251114, 'soon']) {
      const { response } = await world.ask('PUT', '/notifications', { last_read_at });
      expect([last_read_at, response.status]).toEqual([last_read_at, 422]);
    }
    expect(await list()).toHaveLength(2);
    await world.client().activity.markNotificationsAsRead();
    expect(await list()).toEqual([]);
  });

  it('can be marked as done, or unsubscribed', async () => {
    const thread = { thread_id: 18204117802 };
    const ignored = await world
      .client()
      .activity.setThreadSubscription({ ...thread, ignored: true });
    expect(ignored.data).toMatchObject({ subscribed: false, ignored: true });
    await world.client().activity.deleteThreadSubscription(thread);
    const none = world.client().activity.getThreadSubscriptionForAuthenticatedUser(thread);
    expect(await errorOf(none)).toEqual(notFound);
    await world.client().activity.markThreadAsDone(thread);
    expect(await errorOf(world.client().activity.getThread(thread))).toEqual(notFound);
  });
});

describe('reactions', () => {
  it('are counted, listed, added once and removed', async () => {
    const { data } = await world.client().issues.get(on(139));
    expect(data.reactions).toMatchObject({ total_count: 3, '+1': 2, eyes: 1 });
    const only = await world.client().reactions.listForIssue({ ...on(139), content: 'eyes' });
    expect(only.data.map(({ user }) => user?.login)).toEqual(['jonas-eide']);
    const heart = { ...on(139), content: 'heart' as const };
    const first = await world.client().reactions.createForIssue(heart);
    const second = await world.client().reactions.createForIssue(heart);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.data).toEqual(first.data);
    await world.client().reactions.deleteForIssue({ ...on(139), reaction_id: first.data.id });
    expect((await world.client().issues.get(on(139))).data.reactions?.total_count).toBe(3);
    const odd = world.client().reactions.createForIssue({ ...on(139), content: 'wow' as never });
    expect(await errorOf(odd)).toEqual(
      invalid({ resource: 'Reaction', field: 'content', code: 'invalid' }),
    );
  });

  it('are deleted with their comment', async () => {
    const { data } = await world.client().issues.createComment({ ...on(157), body: 'B' });
    const comment = { ...repository, comment_id: data.id };
    await world.client().reactions.createForIssueComment({ ...comment, content: 'rocket' });
    const shown = await world.client().issues.getComment(comment);
    expect(shown.data.reactions).toMatchObject({ total_count: 1, rocket: 1 });
    await world.client().issues.deleteComment(comment);
    expect(world.rows('reactions', { subject_id: data.id })).toEqual([]);
  });

  it('can be added to comments on lines and to releases, and removed only by their user', async () => {
    const line = { ...repository, comment_id: 2360117845, content: 'eyes' as const };
    const made = await world.client().reactions.createForPullRequestReviewComment(line);
    expect(made.status).toBe(201);
    const release = { ...repository, release_id: 249077205 };
    const under = await world.client().reactions.listForRelease(release);
    expect(under.data.map(({ content }) => content)).toEqual(['hooray']);
    const elsewhere = { ...on(157), reaction_id: under.data[0]?.id ?? 0 };
    expect(await errorOf(world.client().reactions.deleteForIssue(elsewhere))).toEqual(notFound);
  });

  it('can be used in searches and for sorting', async () => {
    const q = 'repo:northquay/berth reactions:>=1 sort:reactions-desc';
    const { data } = await world.client().search.issuesAndPullRequests({ q });
    expect(data.items.map(({ number }) => number)).toEqual([139, 47]);
  });
});

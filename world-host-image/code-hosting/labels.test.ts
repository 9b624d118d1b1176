/** Tests labels and comments of the code host, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import {
  documentation_url,
  errorOf,
  invalid,
  names,
  notFound,
  on,
  repository,
  seconds,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

describe('labels of an issue', () => {
  it('can be added in upper or lower case, and are created if missing', async () => {
    const { data } = await world.client().issues.addLabels({
      ...on(157),
      labels: ['DUPLICATE', 'duplicate', 'area: gates'],
    });
    expect(names(data)).toEqual(['area: emails', 'area: gates', 'duplicate']);
    expect(Object.keys(data[0] ?? {}).sort()).toEqual(
      [
        ...['archived_at', 'archived_by', 'color', 'default', 'description', 'id', 'name'],
        ...['node_id', 'url'],
      ].sort(),
    );
    const listed = await world.client().issues.listLabelsOnIssue(on(157));
    expect(listed.data).toEqual(data);
  });

  it('can be removed one by one', async () => {
    const { data } = await world.client().issues.removeLabel({ ...on(139), name: 'area: emails' });
    expect(names(data)).toEqual(['bug']);
    expect(
      await errorOf(world.client().issues.removeLabel({ ...on(139), name: 'wontfix' })),
    ).toEqual({
      status: 404,
      data: { message: 'Label does not exist', documentation_url, status: '404' },
    });
  });

  it('can all be replaced, and all be removed', async () => {
    const set = await world.client().issues.setLabels({ ...on(139), labels: ['bug', 'security'] });
    expect(names(set.data)).toEqual(['bug', 'security']);
    expect((await world.client().issues.removeAllLabels(on(139))).status).toBe(204);
    expect((await world.client().issues.get(on(139))).data.labels).toEqual([]);
  });
});

describe('labels of a repository', () => {
  it('are archived and restored, with the time and the user', async () => {
    const duplicate = { ...repository, name: 'duplicate' };
    const archive = async (archived: boolean) =>
      (await world.client().issues.updateLabel({ ...duplicate, archived } as never))
        .data as never as Row;
    const label = await archive(true);
    expect(label).toMatchObject({
      archived_at: expect.stringMatching(seconds),
      archived_by: { login: 'quay-triage' },
    });
    expect(await archive(true)).toEqual(label);
    expect(await archive(false)).toMatchObject({ archived_at: null, archived_by: null });
  });

  it('are listed, and returned one by one', async () => {
    const { data } = await world.client().issues.listLabelsForRepo(repository);
    expect(data).toHaveLength(15);
    const label = await world.client().issues.getLabel({ ...repository, name: 'good first issue' });
    expect(label.data).toMatchObject({
      color: '7057ff',
      default: true,
      url: `${world.url}/repos/northquay/berth/labels/good%20first%20issue`,
    });
    expect(await errorOf(world.client().issues.getLabel({ ...repository, name: 'none' }))).toEqual(
      notFound,
    );
  });

  it('can be created only once', async () => {
    const asked = {
      ...repository,
      name: 'area: map',
      color: 'C5DEF5',
      description: 'The berth map',
    };
    const { status, data } = await world.client().issues.createLabel(asked);
    expect(status).toBe(201);
    expect(data).toMatchObject({
      name: 'area: map',
      color: 'c5def5',
      default: false,
      description: 'The berth map',
      url: `${world.url}/repos/northquay/berth/labels/area%3A%20map`,
    });
    expect(data.node_id).toMatch(/^LA_kwDO/);
    expect(
      await errorOf(world.client().issues.createLabel({ ...asked, name: 'Area: Map' })),
    ).toEqual(invalid({ resource: 'Label', field: 'name', code: 'already_exists' }));
  });

  it('are refused without a name, with an invalid colour, or with a long description', async () => {
    expect(await errorOf(world.client().issues.createLabel({ ...repository, name: '' }))).toEqual(
      invalid({ resource: 'Label', field: 'name', code: 'missing_field' }),
    );
    const red = { ...repository, name: 'red', color: 'red' };
    expect(await errorOf(world.client().issues.createLabel(red))).toEqual(
      invalid({ resource: 'Label', field: 'color', code: 'invalid' }),
    );
    const long = { ...repository, name: 'long', description: 'x'.repeat(101) };
    expect(await errorOf(world.client().issues.createLabel(long))).toMatchObject({
      status: 422,
      data: { errors: [{ resource: 'Label', field: 'description', code: 'custom' }] },
    });
  });

  it('are renamed on all issues that have them', async () => {
    const { data } = await world.client().issues.updateLabel({
      ...repository,
      name: 'area: emails',
      new_name: 'area: mail',
      color: '00ff00',
    });
    expect(data).toMatchObject({ name: 'area: mail', color: '00ff00' });
    const carried = await world
      .client()
      .issues.listForRepo({ ...repository, labels: 'area: mail' });
    expect(carried.data.map(({ number }) => number)).toEqual([157, 149, 139, 131, 70]);
    const clash = { ...repository, name: 'bug', new_name: 'security' };
    expect(await errorOf(world.client().issues.updateLabel(clash))).toEqual(
      invalid({ resource: 'Label', field: 'name', code: 'already_exists' }),
    );
    const sameName = { ...repository, name: 'bug', new_name: 'Bug' };
    expect((await world.client().issues.updateLabel(sameName)).data.name).toBe('Bug');
    const path = '/repos/northquay/berth/labels/p1';
    expect((await world.ask('PATCH', path, { name: 'urgent' })).body).toMatchObject({
      name: 'urgent',
    });
  });

  it('are removed from all issues when they are deleted', async () => {
    expect((await world.client().issues.deleteLabel({ ...repository, name: 'bug' })).status).toBe(
      204,
    );
    expect(names((await world.client().issues.get(on(139))).data.labels)).toEqual(['area: emails']);
    expect(world.rows('labels', { name: 'bug', repo: 'tide-feed' })).toHaveLength(1);
    const gone = { ...repository, name: 'bug' };
    expect(await errorOf(world.client().issues.deleteLabel(gone))).toEqual(notFound);
  });
});

describe('comments', () => {
  it('are listed, oldest first', async () => {
    const { data } = await world.client().issues.listComments(on(40));
    expect(data.map(({ user }) => user?.login)).toEqual([
      'sam-okafor',
      'priyaraman',
      'priyaraman',
      'jonas-eide',
    ]);
    const page = await world.client().issues.listComments({ ...on(40), per_page: 3, page: 2 });
    expect(page.data.map(({ id }) => id)).toEqual([data[3]?.id]);
    const since = await world
      .client()
      .issues.listComments({ ...on(40), since: '2025-03-31T12:30:00Z' });
    expect(since.data).toHaveLength(1);
  });

  it('are written and counted, and update the issue’s time', async () => {
    const { status, data } = await world.client().issues.createComment({
      ...on(157),
      body: 'Duplicate of #139',
    });
    expect(status).toBe(201);
    expect(data).toMatchObject({
      body: 'Duplicate of #139',
      user: { login: 'quay-triage' },
      author_association: 'MEMBER',
      issue_url: `${world.url}/repos/northquay/berth/issues/157`,
      html_url: `https://code.example/northquay/berth/issues/157#issuecomment-${data.id}`,
    });
    expect(data.created_at).toMatch(seconds);
    const issue = await world.client().issues.get(on(157));
    expect(issue.data.comments).toBe(2);
    expect(issue.data.updated_at).toBe(data.created_at);
  });

  it('are returned, changed and deleted', async () => {
    const made = await world.client().issues.createComment({ ...on(157), body: 'Hello' });
    const comment = { ...repository, comment_id: made.data.id };
    expect((await world.client().issues.getComment(comment)).data).toEqual(made.data);
    const changed = await world
      .client()
      .issues.updateComment({ ...comment, body: 'Hello, Claire' });
    expect(changed.data).toMatchObject({ id: made.data.id, body: 'Hello, Claire' });
    expect((await world.client().issues.deleteComment(comment)).status).toBe(204);
    expect(await errorOf(world.client().issues.getComment(comment))).toEqual(notFound);
    expect(await errorOf(world.client().issues.deleteComment(comment))).toEqual(notFound);
  });

  it('are refused if they are empty, or if the issue does not exist', async () => {
    expect(await errorOf(world.client().issues.createComment({ ...on(157), body: ' ' }))).toEqual(
      invalid({ resource: 'IssueComment', field: 'body', code: 'missing_field' }),
    );
    expect(await errorOf(world.client().issues.createComment({ ...on(9_999), body: 'x' }))).toEqual(
      notFound,
    );
  });

  it('are recorded as references to the issues that they name', async () => {
    const body =
      'As in #139, northquay/tide-feed#48 and https://code.example/northquay/handbook/issues/2; ' +
      'not #157 itself, #9999, a#12, or other/repo#1.';
    const { data } = await world.client().issues.createComment({ ...on(157), body });
    const named = () =>
      world
        .rows('cross_references', { comment_id: data.id })
        .map(({ repo, issue_number }) => `${repo}#${issue_number}`);
    expect(named()).toEqual(['berth#139', 'handbook#2', 'tide-feed#48']);
    const comment = { ...repository, comment_id: data.id };
    await world.client().issues.updateComment({ ...comment, body: 'As in #131.' });
    expect(named()).toEqual(['berth#131']);
    await world.client().issues.deleteComment(comment);
    expect(named()).toEqual([]);
  });
});

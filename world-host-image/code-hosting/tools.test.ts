/** Tests the tools of the template `code-hosting`: what an agent sees and does without the HTTP API. */
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { on, repository, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

describe('tools', () => {
  it('all have an implementation', () => {
    const bindings = world.contract.tools.map(({ name, binding }) => [name, binding.kind]);
    expect(Object.fromEntries(bindings)).toEqual({
      list_repositories: 'convention',
      list_issues: 'convention',
      get_issues: 'convention',
      list_comments: 'convention',
      list_labels: 'convention',
      list_issue_labels: 'convention',
      list_milestones: 'convention',
      list_pulls: 'convention',
      list_reviews: 'convention',
      list_branches: 'convention',
      create_issue: 'operation',
      update_issue: 'operation',
      add_labels: 'operation',
      remove_label: 'operation',
      create_comment: 'operation',
      create_milestone: 'operation',
      create_review: 'operation',
      merge_pull: 'operation',
      delete_branch: 'operation',
      search_issues: 'operation',
      triage_summary: 'python',
      find_duplicates: 'typescript',
    });
  });

  it('list and get rows by convention', async () => {
    const open = (await world.tool('list_issues', { ...repository, state: 'open' })) as Row[];
    expect(open).toHaveLength(28);
    expect(await world.tool('get_issues', { ...repository, number: 139 })).toMatchObject({
      title: 'Arrival reminders go out an hour early since the clocks went back',
      user: 'jonas-eide',
    });
    expect(await world.tool('list_comments', on(157))).toHaveLength(1);
    expect(await world.tool('list_labels', repository)).toHaveLength(15);
    expect(await world.tool('list_issue_labels', on(139))).toHaveLength(2);
    expect(await world.tool('list_repositories', {})).toHaveLength(4);
  });

  it('open, change, label and comment on issues as the API does', async () => {
    const made = (await world.tool('create_issue', {
      ...repository,
      title: 'A',
      labels: ['bug'],
    })) as Row;
    expect(made).toMatchObject({ number: 159, user: { login: 'quay-triage' } });
    const { error } = await world.call('tool', 'create_issue', { ...repository, title: '' });
    expect(error).toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/^create_issue answered 422: .*"field":"title"/),
      details: { status: 422, body: { message: 'Validation Failed' } },
    });
  });

  it('summarize the open work of a repository', async () => {
    const summary = await world.tool('triage_summary', repository);
    expect(summary).toMatchObject({
      open: 28,
      closed: 30,
      without_label: [],
      without_comment: [88, 158],
      waiting_pulls: [142, 150, 153, 155, 156],
      longest_quiet: { number: 55 },
    });
    const { error } = await world.call('tool', 'triage_summary', { ...repository, repo: 'none' });
    expect(error).toMatchObject({
      code: 'not_found',
      message: 'there is no repository northquay/none',
    });
  });

  it('find the original of a duplicate issue', async () => {
    const alike = (await world.tool('find_duplicates', { ...repository, number: 157 })) as Row[];
    expect(alike[0]).toMatchObject({ number: 139, state: 'open' });
    const known = (await world.tool('find_duplicates', {
      ...repository,
      number: 41,
      limit: 1,
    })) as Row[];
    expect(known).toMatchObject([{ number: 40, state: 'closed' }]);
    const { error } = await world.call('tool', 'find_duplicates', { ...repository, number: 9_999 });
    expect(error).toMatchObject({ code: 'not_found' });
  });
});

/** Tests that texts longer than the vendor accepts are refused in the vendor's words. */
import { describe, expect, it } from 'vitest';
import {
  type CodeHost,
  errorOf,
  invalid,
  on,
  pull,
  repository,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const text = (length: number) => 'é'.repeat(length);

const tooLong = (resource: string, field: string, longest: number) => {
  const message = `${field} is too long (maximum is ${longest} characters)`;
  return invalid({ resource, field, code: 'custom', message });
};

type Rest = ReturnType<CodeHost['client']>;

describe('a long text', () => {
  it.each<[string, number, (rest: Rest, text: string) => Promise<unknown>]>([
    ['Issue title', 256, (rest, title) => rest.issues.create({ ...repository, title })],
    ['Issue title', 256, (rest, title) => rest.issues.update({ ...on(139), title })],
    ['Issue body', 65_536, (rest, body) => rest.issues.create({ ...repository, title: 'A', body })],
    ['Issue body', 65_536, (rest, body) => rest.issues.update({ ...on(139), body })],
    ['IssueComment body', 65_536, (rest, body) => rest.issues.createComment({ ...on(139), body })],
    ['PullRequest title', 256, (rest, title) => rest.pulls.update({ ...pull(150), title })],
    ['PullRequest body', 65_536, (rest, body) => rest.pulls.update({ ...pull(150), body })],
    [
      'PullRequestReview body',
      65_536,
      (rest, body) => rest.pulls.createReview({ ...pull(150), body, event: 'COMMENT' }),
    ],
    [
      'PullRequestReviewComment body',
      65_536,
      (rest, body) =>
        rest.pulls.createReview({ ...pull(150), comments: [{ path: 'a', line: 1, body }] }),
    ],
    ['Label name', 50, (rest, name) => rest.issues.createLabel({ ...repository, name })],
    ['Label name', 50, (rest, name) => rest.issues.addLabels({ ...on(139), labels: [name] })],
    [
      'Label description',
      100,
      (rest, description) => rest.issues.updateLabel({ ...repository, name: 'bug', description }),
    ],
    [
      'Milestone title',
      255,
      (rest, title) => rest.issues.createMilestone({ ...repository, title }),
    ],
    [
      'Repository description',
      350,
      (rest, description) => rest.repos.update({ ...repository, description }),
    ],
    ['Repository name', 100, (rest, name) => rest.repos.createInOrg({ org: 'northquay', name })],
  ])('is refused if it is %s of more than %i characters', async (what, longest, send) => {
    const [resource = '', field = ''] = what.split(' ');
    expect(await errorOf(send(world.client(), text(longest + 1)))).toEqual(
      tooLong(resource, field, longest),
    );
  });

  it('is accepted if it has exactly the maximum length', async () => {
    const longest = { title: text(256), body: text(65_536), labels: [text(50)] };
    const { data } = await world.client().issues.create({ ...repository, ...longest });
    expect(data).toMatchObject({ title: longest.title, body: longest.body });
  });

  it.each(['-', '-a'])('of nothing but %s is searched for issue references, too', async (part) => {
    const body = part.repeat(65_536 / part.length);
    const { status } = await world.client().issues.createComment({ ...on(139), body });
    expect(status).toBe(201);
  });

  it('can name issues of repositories whose names have dashes', async () => {
    const issue = { owner: 'northquay', repo: 'tide-feed', title: 'A' };
    const { number } = (await world.client().issues.create(issue)).data;
    const body = `- see -northquay/none#1, northquay/tide-feed#${number} and -#150`;
    await world.client().issues.createComment({ ...on(139), body });
    const { output } = await world.call('state', 'state', {
      entity: 'cross_references',
      where: { from_number: 139 },
    });
    const { rows } = output as { rows: { issue_number: number; repo: string }[] };
    expect(rows.map((row) => [row.repo, row.issue_number])).toEqual(
      expect.arrayContaining([
        ['tide-feed', number],
        ['berth', 150],
      ]),
    );
  });
});

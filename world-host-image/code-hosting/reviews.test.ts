/** Tests reviews of pull requests, through the vendor's client. */
import { describe, expect, it } from 'vitest';
import {
  errorOf,
  invalid,
  notFound,
  pull,
  refused,
  repository,
  seconds,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const path = 'server/billing/invoice.ts';

describe('reviews', () => {
  it('are listed, oldest first', async () => {
    const { data } = await world.client().pulls.listReviews(pull(150));
    expect(data.map(({ user, state }) => [user?.login, state])).toEqual([
      ['tobias-wendt', 'CHANGES_REQUESTED'],
      ['tobias-wendt', 'APPROVED'],
    ]);
    const review_id = data[0]?.id ?? 0;
    const comments = await world.client().pulls.listCommentsForReview({ ...pull(150), review_id });
    expect(comments.data.map(({ path }) => path)).toEqual(['server/reports/occupancy.ts']);
  });

  it('can approve a pull request, which allows its merge', async () => {
    const { status, data } = await world
      .client()
      .pulls.createReview({ ...pull(155), event: 'APPROVE' });
    expect(status).toBe(200);
    expect(data).toMatchObject({ state: 'APPROVED', user: { login: 'quay-triage' } });
    expect(data.submitted_at).toMatch(seconds);
    expect((await world.client().pulls.get(pull(155))).data.mergeable_state).toBe('clean');
    await world.client().pulls.merge(pull(155));
  });

  it('can request changes, which prevents the merge until the review is dismissed', async () => {
    const asked = { ...pull(150), event: 'REQUEST_CHANGES' as const };
    expect(await errorOf(world.client().pulls.createReview(asked))).toEqual(
      refused(422, 'Unprocessable Entity', ['Body can not be blank for REQUEST_CHANGES']),
    );
    const { data } = await world
      .client()
      .pulls.createReview({ ...asked, body: 'Not in November.' });
    expect((await world.client().pulls.get(pull(150))).data.mergeable_state).toBe('blocked');
    const review = { ...pull(150), review_id: data.id };
    const dismissed = await world.client().pulls.dismissReview({ ...review, message: 'Well.' });
    expect(dismissed.data.state).toBe('DISMISSED');
    expect((await world.client().pulls.get(pull(150))).data.mergeable_state).toBe('clean');
  });

  it('are pending until they are submitted', async () => {
    const comments = [{ path, line: 44, body: 'Here.' }];
    const pending = await world.client().pulls.createReview({ ...pull(153), comments });
    expect(pending.data).toMatchObject({ state: 'PENDING', body: '' });
    expect(pending.data.submitted_at).toBeUndefined();
    const second = world.client().pulls.createReview(pull(153));
    expect((await errorOf(second)).status).toBe(422);
    const review = { ...pull(153), review_id: pending.data.id };
    await world.client().pulls.updateReview({ ...review, body: 'One thing' });
    const submitted = await world.client().pulls.submitReview({ ...review, event: 'COMMENT' });
    expect(submitted.data).toMatchObject({ state: 'COMMENTED', body: 'One thing' });
    expect((await errorOf(world.client().pulls.deletePendingReview(review))).status).toBe(422);
    const other = await world.client().pulls.createReview({ ...pull(153), comments });
    await world.client().pulls.deletePendingReview({ ...pull(153), review_id: other.data.id });
    expect(world.rows('review_comments', { review_id: other.data.id })).toEqual([]);
  });

  it('remove their reviewer from the requested reviewers', async () => {
    await world.client().pulls.requestReviewers({ ...pull(153), reviewers: ['quay-triage'] });
    await world.client().pulls.createReview({ ...pull(153), event: 'APPROVE' });
    const { data } = await world.client().pulls.listRequestedReviewers(pull(153));
    expect(data.users).toEqual([]);
  });

  it('cannot approve the reviewer’s own pull request', async () => {
    await world.client().git.createRef({
      ...repository,
      ref: 'refs/heads/mine',
      sha: (await world.client().pulls.get(pull(155))).data.head.sha,
    });
    const mine = await world
      .client()
      .pulls.create({ ...repository, title: 'Mine', head: 'mine', base: 'main' });
    const review = { ...pull(mine.data.number), event: 'APPROVE' as const };
    expect(await errorOf(world.client().pulls.createReview(review))).toEqual(
      refused(422, 'Unprocessable Entity', ['Can not approve your own pull request']),
    );
  });
});

describe('comments on lines', () => {
  it('are written, answered, changed and deleted', async () => {
    const { data: files } = await world.client().pulls.get(pull(153));
    const said = await world.client().pulls.createReviewComment({
      ...pull(153),
      body: 'Which lock?',
      commit_id: files.head.sha,
      path,
      line: 44,
    });
    expect(said.status).toBe(201);
    expect(said.data).toMatchObject({ path, line: 44, side: 'RIGHT', body: 'Which lock?' });
    const comment_id = said.data.id;
    const reply = await world
      .client()
      .pulls.createReplyForReviewComment({ ...pull(153), comment_id, body: 'The old one.' });
    expect(reply.data).toMatchObject({ in_reply_to_id: comment_id, path, line: 44 });
    const listed = await world.client().pulls.listReviewComments(pull(153));
    expect(listed.data).toHaveLength(3);
    const comment = { ...repository, comment_id };
    const changed = await world
      .client()
      .pulls.updateReviewComment({ ...comment, body: 'Which one?' });
    expect(changed.data.body).toBe('Which one?');
    expect((await world.client().pulls.deleteReviewComment(comment)).status).toBe(204);
    expect(await errorOf(world.client().pulls.getReviewComment(comment))).toEqual(notFound);
  });

  it('are accepted only for files that the pull request changes', async () => {
    const { data } = await world.client().pulls.get(pull(153));
    const comment = { ...pull(153), body: 'A', commit_id: data.head.sha, line: 1 };
    const other = world.client().pulls.createReviewComment({ ...comment, path: 'README.md' });
    expect(await errorOf(other)).toEqual(
      invalid({ resource: 'PullRequestReviewComment', field: 'path', code: 'invalid' }),
    );
  });

  it('are listed for a whole repository', async () => {
    const { data } = await world
      .client()
      .pulls.listReviewCommentsForRepo({ ...repository, sort: 'created', direction: 'desc' });
    expect(data[0]).toMatchObject({ user: { login: 'priyaraman' }, path });
    expect(data).toHaveLength(4);
  });
});

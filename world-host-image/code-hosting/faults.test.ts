/**
 * Tests the vendor's client with its own retry plugin in a session with faults: its requests succeed, and the ledger
 * shows the faults.
 */
import { expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { on, repository, serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const set = async (rules: Row[]): Promise<void> => {
  const { error } = await world.call('faults', undefined, { rules });
  expect(error).toBeUndefined();
};

/** Returns the requests in the ledger: the status, and the faults that applied. */
const noted = async (): Promise<unknown[]> => {
  const { output } = await world.call('state', undefined, {
    entity: 'svc_requests',
    where: { via: 'api' },
  });
  return (output as { rows: Row[] }).rows.map(({ status, response }) => [
    status,
    ((response as Row).faults as Row[] | undefined)?.map(({ name }) => name) ?? [],
  ]);
};

it('the vendor’s client retries a request that a fault answers with an error status', async () => {
  await set([{ name: 'busy', routes: ['/repos/*'], nth: 1, times: 2, status: 503 }]);
  const { status, data } = await world.octokit().rest.issues.get(on(139));
  expect([status, data.number]).toEqual([200, 139]);
  expect(await noted()).toEqual([
    [503, ['busy']],
    [503, ['busy']],
    [200, []],
  ]);
});

it('the vendor’s client retries after a dropped connection, and so writes a comment twice if the first request was executed', async () => {
  const comment = { ...on(139), body: 'once, please' };
  const comments = async () => {
    const { data } = await world.client().issues.listComments({ ...on(139), per_page: 100 });
    return data.filter(({ body }) => body === comment.body).length;
  };
  await set([{ name: 'lost', routes: ['create_comment'], nth: 1, drop: 'before' }]);
  await world.octokit().rest.issues.createComment(comment);
  expect(await comments()).toBe(1);
  await set([{ name: 'unheard', routes: ['create_comment'], nth: 1, drop: 'after' }]);
  await world.octokit().rest.issues.createComment(comment);
  expect(await comments()).toBe(3);
});

it('an enforced rate limit is reported in the vendor’s headers, and the requests of a client that does not wait fail', async () => {
  await set([
    {
      name: 'tight',
      rate_limit: 'core',
      limit: 2,
      status: 403,
      body: '{"message":"API rate limit exceeded"}',
      retry_after: false,
    },
  ]);
  const octokit = world.octokit();
  const left = async () =>
    (await octokit.rest.repos.get(repository)).headers['x-ratelimit-remaining'];
  expect([await left(), await left()]).toEqual(['1', '0']);
  await expect(octokit.rest.repos.get(repository)).rejects.toMatchObject({
    status: 403,
    response: {
      headers: { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' },
      data: { message: 'API rate limit exceeded' },
    },
  });
});

it('a grader can distinguish the effects of a fault from those of the agent', async () => {
  await set([{ name: 'busy', nth: 1, status: 503 }]);
  await world.octokit().rest.issues.get(on(139));
  world.session.task = {
    grader: {
      kind: 'assertions',
      checks: [
        {
          entity: 'svc_requests',
          where: { status: 503, 'response.faults': { exists: true } },
          count: 1,
        },
        {
          entity: 'svc_requests',
          where: { status: 503, 'response.faults': { exists: false } },
          count: 0,
        },
      ],
    },
  } as never;
  expect(await world.grade()).toEqual({ passed: true, failed: [] });
});

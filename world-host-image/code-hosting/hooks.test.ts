/**
 * Tests webhooks of the code host: they are registered through the vendor's client, and their deliveries are recorded
 * in the ledger.
 */
import { describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import {
  errorOf,
  invalid,
  notFound,
  on,
  pull,
  repository,
  serveCodeHost,
} from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

/** Number of an open milestone of the repository. */
const openMilestone = 4;

const config = {
  url: 'https://hooks.northquay.example/berth',
  content_type: 'json',
  secret: 'mooring',
};

const register = (events: string[], more: object = {}) =>
  world.client().repos.createWebhook({ ...repository, config, events, ...more });

describe('webhooks', () => {
  it('are registered, listed, changed and deleted, and never reveal their secret', async () => {
    const { status, data } = await register(['issues', 'issue_comment']);
    expect(status).toBe(201);
    expect(data).toMatchObject({
      name: 'web',
      active: true,
      events: ['issues', 'issue_comment'],
      config: { ...config, secret: '********' },
    });
    const twice = register(['issue_comment', 'issues']);
    expect(await errorOf(twice)).toMatchObject({
      status: 422,
      data: { errors: [{ message: 'Hook already exists on this repository' }] },
    });
    const hook = { ...repository, hook_id: data.id };
    const changed = await world
      .client()
      .repos.updateWebhook({ ...hook, add_events: ['label'], remove_events: ['issues'] });
    expect(changed.data.events).toEqual(['issue_comment', 'label']);
    const all = await world.client().repos.updateWebhook({ ...hook, events: ['*'], active: false });
    expect([all.data.events, all.data.active]).toEqual([['*'], false]);
    expect((await world.client().repos.listWebhooks(repository)).data).toHaveLength(1);
    expect((await world.client().repos.deleteWebhook(hook)).status).toBe(204);
    expect(await errorOf(world.client().repos.getWebhook(hook))).toEqual(notFound);
  });

  it('can be registered only for events that the vendor has', async () => {
    const wrong = { value: 'bogus', resource: 'Hook', field: 'events', code: 'invalid' };
    expect(await errorOf(register(['issues', 'bogus']))).toEqual(invalid(wrong));
    const { data } = await register(['issues', 'workflow_run']);
    const hook = { ...repository, hook_id: data.id };
    for (const change of [{ events: ['bogus'] }, { add_events: ['bogus'] }]) {
      const changed = world.client().repos.updateWebhook({ ...hook, ...change });
      expect(await errorOf(changed)).toEqual(invalid(wrong));
    }
  });

  it('can be managed only by users who may administer the repository', async () => {
    const foreign = { owner: 'mikkelh', repo: 'marstal-tides', config };
    expect(await errorOf(world.client().repos.createWebhook(foreign))).toMatchObject({
      status: 403,
      data: { message: 'Must have admin rights to Repository.' },
    });
  });
});

describe('deliveries', () => {
  it('are sent to the webhooks that subscribe to the event', async () => {
    await register(['*']);
    const delivered = await deliveriesOf(async () => {
      await world.client().issues.create({ ...repository, title: 'A', labels: ['bug'] });
      await world.client().issues.createComment({ ...on(157), body: 'B' });
      await world.client().issues.update({ ...on(157), state: 'closed' });
      await world.client().pulls.merge(pull(150));
      await world.client().issues.create({ ...repository, repo: 'handbook', title: 'C' });
    });
    expect(delivered).toEqual([
      ['issues', 'opened'],
      ['issues', 'labeled'],
      ['issue_comment', 'created'],
      ['issues', 'closed'],
      ['push', undefined],
      ['pull_request', 'closed'],
      ['issues', 'closed'],
    ]);
  });

  it('about a new issue come before those about its labels and assignees, each with the issue’s state at the time', async () => {
    await register(['issues']);
    const given = {
      labels: ['bug', 'p1'],
      assignees: ['sam-okafor', 'jonas-eide'],
      milestone: openMilestone,
    };
    const delivered = await deliveriesOf(async () => {
      await world.client().issues.create({ ...repository, title: 'A', ...given });
    });
    expect(delivered.map(([, action]) => action)).toEqual([
      'opened',
      'labeled',
      'labeled',
      'assigned',
      'assigned',
      'milestoned',
    ]);
    const bodies = (await world.deliveries()).map(({ request }) => (request as { body: Row }).body);
    const [ping, opened, first, second] = bodies;
    expect(ping).toHaveProperty('zen');
    expect(opened).toMatchObject({
      issue: { labels: [{ name: 'bug' }, { name: 'p1' }], milestone: { number: openMilestone } },
    });
    expect(first).toMatchObject({ label: { name: 'bug' } });
    expect(second).toMatchObject({ label: { name: 'p1' }, issue: opened?.issue });
  });

  it('begin with a ping, which only the new webhook gets, whatever its events', async () => {
    const hooks: number[] = [];
    for (const events of [['issues'], ['*']]) hooks.push((await register(events)).data.id);
    const [first = 0] = hooks;
    await world.client().repos.pingWebhook({ ...repository, hook_id: first });
    await world.client().repos.updateWebhook({ ...repository, hook_id: first, events: ['label'] });
    await world.client().repos.pingWebhook({ ...repository, hook_id: first });
    const sent = await world.deliveries();
    expect(
      sent.map(({ operation, request }) => {
        const { body } = request as { body: { hook_id: number; hook: { events: string[] } } };
        return [operation, body.hook_id, body.hook.events];
      }),
    ).toEqual([
      ['ping', first, ['issues']],
      ['ping', hooks[1], ['*']],
      ['ping', first, ['issues']],
      ['ping', first, ['label']],
    ]);
  });

  it('of a ping can be requested at the webhook’s ping URL or through the client’s method', async () => {
    const { data } = await register(['push']);
    const ofPush = async (act: () => Promise<unknown>) =>
      (await deliveriesOf(act)).map(([operation]) => operation);
    const byMethod = () =>
      world.client().repos.testPushWebhook({ ...repository, hook_id: data.id });
    const byAddress = () => world.octokit().request(`POST ${data.test_url}`);
    expect(await ofPush(byMethod)).toEqual(['push']);
    expect(await ofPush(byAddress)).toEqual(['push']);
  });

  it('are not sent for a request that failed', async () => {
    await register(['*']);
    const delivered = await deliveriesOf(async () => {
      const wrong = { ...repository, title: 'A', labels: ['new'], assignees: ['nemo'] };
      expect((await errorOf(world.client().issues.create(wrong))).status).toBe(422);
    });
    expect(delivered).toEqual([]);
  });

  it('are not sent to webhooks that are inactive or subscribe to other events', async () => {
    await register(['pull_request'], { active: true });
    await register(['*'], { active: false });
    const delivered = await deliveriesOf(() =>
      world.client().issues.createComment({ ...on(157), body: 'B' }),
    );
    expect(delivered).toEqual([]);
  });
});

/** Runs `work` and returns the event and action of each delivery that it causes. */
const deliveriesOf = async (work: () => Promise<unknown>): Promise<[unknown, unknown][]> => {
  const before = (await world.deliveries()).length;
  await work();
  const sent = (await world.deliveries()).slice(before);
  return sent.map(({ operation, request }) => {
    const { body } = request as { body: { action?: string } };
    return [operation, body.action];
  });
};

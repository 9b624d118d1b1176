/** Tests statuses and checks of commits, the code host's answers about itself, and the deliveries of hooks. */
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
const tip = 'ea971acdeea7783b9d999af454bd15ec05002f51';

describe('statuses of commits', () => {
  it('are combined from the latest status of each context', async () => {
    const state = async (ref: string) =>
      (await world.client().repos.getCombinedStatusForRef({ ...repository, ref })).data;
    expect(await state('occupancy-nights')).toMatchObject({ state: 'success', total_count: 1 });
    expect(await state('postgres-18')).toMatchObject({ state: 'failure', total_count: 1 });
    expect(await state('v2.7.0')).toMatchObject({ state: 'pending', statuses: [] });
    const all = await world
      .client()
      .repos.listCommitStatusesForRef({ ...repository, ref: 'occupancy-nights' });
    expect(all.data.map((one) => one.state)).toEqual(['success', 'pending']);
  });

  it('can be written, and make a pull request unstable if they are failures', async () => {
    const sha = (await world.client().pulls.get(pull(150))).data.head.sha;
    const status = { ...repository, sha, context: 'e2e', target_url: 'https://e2e.example/1' };
    const made = await world.client().repos.createCommitStatus({ ...status, state: 'failure' });
    expect([made.status, made.data.creator?.login]).toEqual([201, 'quay-triage']);
    const { data } = await world.client().pulls.get(pull(150));
    expect(data.mergeable_state).toBe('unstable');
    await world.client().repos.createCommitStatus({ ...status, state: 'success' });
    expect((await world.client().pulls.get(pull(150))).data.mergeable_state).toBe('clean');
  });

  it('are accepted only for existing commits, and with one of four states', async () => {
    const write = (sha: string, state: string) =>
      world.client().repos.createCommitStatus({ ...repository, sha, state: state as never });
    const unknown = 'f'.repeat(40);
    expect(await errorOf(write(unknown, 'success'))).toEqual(
      refused(422, `No commit found for SHA: ${unknown}`),
    );
    expect((await errorOf(write(tip, 'good'))).status).toBe(422);
  });
});

describe('checks', () => {
  it('are listed by commit, as runs and as suites', async () => {
    const ref = { ...repository, ref: 'occupancy-nights' };
    const { data } = await world.client().checks.listForRef(ref);
    expect(data.total_count).toBe(2);
    expect(data.check_runs.map(({ name, conclusion }) => [name, conclusion])).toEqual([
      ['lint', 'success'],
      ['test', 'success'],
    ]);
    expect(data.check_runs[0]?.pull_requests.map(({ number }) => number)).toEqual([150]);
    const named = await world.client().checks.listForRef({ ...ref, check_name: 'test' });
    expect(named.data.total_count).toBe(1);
    const suites = await world.client().checks.listSuitesForRef(ref);
    const [suite] = suites.data.check_suites;
    expect(suite).toMatchObject({ conclusion: 'success', latest_check_runs_count: 2 });
    const runs = await world
      .client()
      .checks.listForSuite({ ...repository, check_suite_id: suite?.id ?? 0 });
    expect(runs.data.total_count).toBe(2);
    const run = { ...repository, check_run_id: data.check_runs[0]?.id ?? 0 };
    expect((await world.client().checks.get(run)).data.output.title).toBe('No problems');
    expect((await world.client().checks.listAnnotations(run)).data).toEqual([]);
  });

  it('can be created only by apps', async () => {
    const run = { ...repository, name: 'test', head_sha: tip };
    expect((await errorOf(world.client().checks.create(run))).status).toBe(403);
  });
});

describe('the code host', () => {
  it('returns a list of its URLs', async () => {
    expect((await world.client().meta.root()).data.issues_url).toMatch(/\/issues$/);
    expect((await world.client().meta.get()).data.hooks).toHaveLength(2);
    expect((await world.client().meta.getZen()).data).toBe('Keep it logically awesome.');
    expect((await world.client().meta.getAllVersions()).data).toEqual(['2022-11-28']);
  });

  it('finds repositories and users by their numbers', async () => {
    const { body } = await world.ask('GET', '/repositories/612340551');
    expect(body.full_name).toBe('northquay/berth');
    expect((await world.ask('GET', '/user/33519027')).body.login).toBe('mikkelh');
    expect((await world.ask('GET', '/repositories/1')).body).toEqual(notFound.data);
  });
});

describe('a delivery of a webhook', () => {
  const config = { url: 'https://hooks.example/a', content_type: 'json', secret: 's' };
  const register = async (events: string[], more: object = {}) => {
    const asked = { ...repository, config: { ...config, ...more }, events };
    return { ...repository, hook_id: (await world.client().repos.createWebhook(asked)).data.id };
  };

  it('is listed, returned whole and can be redelivered', async () => {
    const hook = await register(['issues']);
    await world.client().issues.update({ ...on(157), state: 'closed' });
    const { data } = await world.client().repos.listWebhookDeliveries(hook);
    expect(data.map(({ event, action }) => [event, action])).toEqual([
      ['issues', 'closed'],
      ['ping', null],
    ]);
    const delivery = { ...hook, delivery_id: data[0]?.id ?? 0 };
    const whole = (await world.client().repos.getWebhookDelivery(delivery)).data;
    expect(whole.request.payload).toMatchObject({ action: 'closed', issue: { number: 157 } });
    const again = await world.client().repos.redeliverWebhookDelivery(delivery);
    expect(again.status).toBe(202);
    const after = (await world.client().repos.listWebhookDeliveries(hook)).data;
    expect(after[0]).toMatchObject({ redelivery: true, guid: whole.guid });
    const sent = await world.deliveries();
    expect(sent.at(-1)).toMatchObject({
      operation: 'issues',
      request: { body: whole.request.payload },
    });
    expect((await world.client().repos.deleteWebhook(hook)).status).toBe(204);
  });

  it('has the id that was sent, which is the same for all receivers of an event', async () => {
    const hooks = [
      await register(['issues']),
      await register(['issues'], { url: 'https://b.example/' }),
    ];
    await world.client().issues.update({ ...on(158), title: 'Sent to two' });
    const listed = await Promise.all(
      hooks.map(async (hook) => (await world.client().repos.listWebhookDeliveries(hook)).data[0]),
    );
    const { id = 0, guid } = listed[0] ?? {};
    const first = { ...repository, hook_id: hooks[0]?.hook_id ?? 0 };
    await world.client().repos.redeliverWebhookDelivery({ ...first, delivery_id: id });
    const sent = (await world.deliveries()).slice(-3).map(({ request }) => {
      const { headers } = request as { headers: Record<string, string> };
      return [headers['x-github-event'], headers['x-github-delivery']];
    });
    expect(guid).toBeDefined();
    expect(listed[1]?.guid).toBe(guid);
    expect(sent).toEqual(Array(3).fill(['issues', guid]));
    for (const hook of hooks) await world.client().repos.deleteWebhook(hook);
  });

  it('is listed for a limited time, and not at all if it could not be signed', async () => {
    const silent = await register(['issues'], {
      secret: undefined,
      url: 'https://hooks.example/b',
    });
    const hook = await register(['issues']);
    const labels = Array.from({ length: 101 }, (_, index) => `l${index}`);
    await world.client().issues.addLabels({ ...on(157), labels });
    expect(world.rows('hook_deliveries', { hook_id: hook.hook_id })).toHaveLength(100);
    expect((await world.client().repos.listWebhookDeliveries(silent)).data).toEqual([]);
  });

  it('is sent to the URL and in the format of its webhook’s settings', async () => {
    const hook = await register(['push']);
    const path = `/repos/northquay/berth/hooks/${hook.hook_id}/config`;
    const url = 'https://hooks.example/c';
    const { body } = await world.ask('PATCH', path, { url });
    expect(body).toEqual({ ...config, url, secret: '********', insecure_ssl: '0' });
    expect((await world.client().repos.getWebhookConfigForRepo(hook)).data).toEqual(body);
    const insecure = async (insecure_ssl: unknown) =>
      (await world.ask('PATCH', path, { insecure_ssl })).body;
    expect([await insecure(1), await insecure('0')]).toMatchObject(
      ['1', '0'].map((insecure_ssl) => ({ insecure_ssl })),
    );
    const odd = { resource: 'Hook', field: 'insecure_ssl', code: 'invalid' };
    for (const one of [[], true, {}]) expect(await insecure(one)).toEqual(invalid(odd).data);
    expect((await world.client().repos.testPushWebhook(hook)).status).toBe(204);
    const last = (await world.deliveries()).at(-1);
    expect(last).toMatchObject({
      operation: 'push',
      request: {
        body: { after: tip, commits: [{ message: 'Show the build on the status page (#148)' }] },
      },
    });
  });
});

/**
 * Tests webhooks of the tracker: they can be registered on both routes, their deliveries are recorded in the ledger,
 * and deliveries are signed if the webhook has a secret.
 */
import { verify } from '@octokit/webhooks-methods';
import { expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { serveIssueTracker } from '#test/support/templates/issue-tracker.ts';

const world = await serveIssueTracker();
const path = '/rest/webhooks/1.0/webhook';
const hook = {
  name: 'To the chat',
  url: 'https://hooks.northquay.example/chat',
  events: ['jira:issue_created', 'jira:issue_updated', 'jira:issue_deleted', 'comment_created'],
  filters: { 'issue-related-events-section': 'project = BERTH AND priority >= High' },
};

const deliveriesNow = async () =>
  (await world.deliveries()).map(({ operation, request }) => {
    const { headers, body } = request as { headers: Row; body: Row };
    return { operation, headers, body };
  });

const create = (fields: Row) =>
  world.ask('POST', '/rest/api/3/issue', {
    fields: { project: { key: 'BERTH' }, issuetype: { name: 'Task' }, summary: 'A', ...fields },
  });

it('webhooks of administrators are created, changed and deleted, and never reveal their secret', async () => {
  const made = await world.ask('POST', path, { ...hook, secret: 'mooring' });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ ...hook, enabled: true, isSigned: true });
  expect(JSON.stringify(made.body)).not.toContain('mooring');
  const self = new URL(String(made.body.self)).pathname;
  const changed = await world.ask('PUT', self, { ...hook, events: ['comment_created'] });
  expect(changed.body.events).toEqual(['comment_created']);
  expect((await world.ask('GET', path)).body).toHaveLength(1);
  expect((await world.ask('DELETE', self)).status).toBe(204);
  expect((await world.ask('GET', self)).status).toBe(404);
  const wrong = await world.ask('POST', path, { ...hook, events: ['bogus'] });
  expect([wrong.status, wrong.body.errorMessages]).toEqual([400, ['Unknown webhook event: bogus']]);
});

it('webhooks get deliveries about issues that their query finds, signed with their secret', async () => {
  await world.ask('POST', path, { ...hook, secret: 'mooring' });
  await create({ priority: { name: 'Low' } });
  const { body } = await create({ priority: { name: 'Highest' } });
  const issue = `/rest/api/3/issue/${body.key}`;
  await world.ask('PUT', issue, { fields: { summary: 'B' } });
  await world.ask('POST', `/rest/api/2/issue/${body.key}/comment`, { body: 'Seen' });
  await world.ask('DELETE', issue);
  const deliveries = await deliveriesNow();
  expect(deliveries.map(({ operation }) => operation)).toEqual([
    'jira:issue_created',
    'jira:issue_updated',
    'comment_created',
    'jira:issue_deleted',
  ]);
  const [created, updated, commented] = deliveries;
  expect(created?.body).toMatchObject({
    webhookEvent: 'jira:issue_created',
    issue_event_type_name: 'issue_created',
    timestamp: expect.any(Number),
    user: { displayName: 'Quay Triage' },
    issue: { key: body.key, fields: { summary: 'A', priority: { name: 'Highest' } } },
  });
  expect(updated?.body.changelog).toMatchObject({
    items: [{ field: 'summary', fromString: 'A', toString: 'B' }],
  });
  expect(commented?.body).toMatchObject({ comment: { body: 'Seen' }, issue: { key: body.key } });
  // Verifies signatures as receivers do that accept this form from any vendor.
  for (const { headers, body } of deliveries) {
    const signature = String(headers['x-hub-signature']);
    expect(await verify('mooring', JSON.stringify(body), signature)).toBe(true);
    expect(await verify('another', JSON.stringify(body), signature)).toBe(false);
  }
});

it('webhooks without a secret get unsigned deliveries', async () => {
  await world.ask('POST', path, hook);
  await create({ priority: { name: 'High' } });
  const [created] = await deliveriesNow();
  expect(created?.headers).toEqual({ 'content-type': 'application/json' });
});

it('webhooks of apps are registered by the client, and get deliveries with their ids about changes of the fields that they name', async () => {
  const jira = world.client();
  const url = 'https://hooks.northquay.example/app';
  const registered = await jira.webhooks.registerDynamicWebhooks({
    url,
    webhooks: [
      { events: ['jira:issue_updated'], jqlFilter: 'project = TIDE', fieldIdsFilter: ['summary'] },
      { events: ['jira:issue_updated'], jqlFilter: 'project = NOPE' },
    ],
  });
  const [first, second] = registered.webhookRegistrationResult ?? [];
  expect(second?.errors).toEqual(["The value 'NOPE' does not exist for the field 'project'."]);
  const id = first?.createdWebhookId as number;
  expect((await jira.webhooks.getDynamicWebhooksForApp()).values).toMatchObject([{ id }]);
  await world.ask('PUT', '/rest/api/3/issue/TIDE-3', { fields: { labels: ['x'] } });
  await world.ask('PUT', '/rest/api/3/issue/TIDE-3', { fields: { summary: 'X' } });
  expect((await deliveriesNow()).map(({ body }) => body.matchedWebhookIds)).toEqual([[id]]);
  expect(await jira.webhooks.refreshWebhooks({ webhookIds: [id] })).toHaveProperty(
    'expirationDate',
  );
  await jira.webhooks.deleteWebhookById({ webhookIds: [id] });
  expect((await jira.webhooks.getDynamicWebhooksForApp()).values).toEqual([]);
});

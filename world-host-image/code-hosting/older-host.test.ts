/**
 * Tests the template `code-hosting` on a host of the previous release, where rows cannot be counted and functions take
 * fewer arguments.
 */
import { expect, it } from 'vitest';
import { on, repository, serveCodeHost } from '#test/support/templates/code-hosting.ts';
import { templateTree } from '#test/support/worlds/worlds.ts';

const asBefore = `
import svc_env.ctx as _ctx
_deliver, _next = _ctx.HandlerContext.deliver, _ctx._Ids.next
def _deliver_before(self, event_type: str, body: object, scope: object = None) -> None:
    _deliver(self, event_type, body, scope)
def _next_before(self, entity: str, field: str) -> int:
    return _next(self, entity, field)
_ctx.HandlerContext.deliver, _ctx._Ids.next = _deliver_before, _next_before
del _ctx._Reader.count
`;

const tree = templateTree('code-hosting').map(({ path, content }) => {
  const before = path === 'api/handlers.py' ? asBefore : '';
  return { path, content: Buffer.concat([Buffer.from(before), content]) };
});
const world = await serveCodeHost(undefined, tree);

it('on an older host, the code host opens and closes issues and milestones, and notifies webhooks', async () => {
  const { issues, repos } = world.client();
  const config = { url: 'https://hooks.example/a', content_type: 'json', secret: 's' };
  const { data } = await repos.createWebhook({ ...repository, config, events: ['*'] });
  const { number } = (await issues.create({ ...repository, title: 'A' })).data;
  const next = (await issues.create({ ...repository, title: 'B' })).data;
  expect(next.number).toBe(number + 1);
  await issues.update({ ...on(number), state: 'closed' });
  expect((await issues.createMilestone({ ...repository, title: 'C' })).status).toBe(201);
  const hook = { ...repository, hook_id: data.id };
  const [first] = (await repos.listWebhookDeliveries(hook)).data;
  await repos.redeliverWebhookDelivery({ ...hook, delivery_id: first?.id ?? 0 });
  const sent = (await world.deliveries()).map(({ operation }) => operation);
  expect(sent).toEqual(['ping', 'issues', 'issues', 'issues', 'milestone', 'milestone']);
});

it('on an older host, lists still report their number of pages', async () => {
  const all = { ...repository, state: 'all' as const, per_page: 20, page: 2 };
  const { headers } = await world.client().issues.listForRepo(all);
  expect(headers.link).toMatch(/[?&]page=3>; rel="last"/);
});

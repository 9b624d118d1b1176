/** Declared faults as a page observes them: they apply only to requests to the API. */
import { expect, it } from 'vitest';
import { issues } from '#test/support/host/host-bench.ts';
import { startUiHost } from '#test/support/worlds/ui-world.ts';

it('declared faults apply to a page’s requests below api_path, but not to its files or rows', async () => {
  const { ui, control } = await startUiHost();
  const rules = [
    { name: 'busy', nth: 1, status: 503, body: '{"message":"later"}' },
    { name: 'lost', nth: 2, drop: 'before' },
  ];
  const { error } = await control.call('faults', undefined, { rules });
  expect(error).toBeUndefined();
  expect(await ui('/')).toMatchObject({ status: 200 });
  const path = `/__world-api${issues}`;
  expect(await ui(path)).toMatchObject({ status: 503, body: '{"message":"later"}' });
  await expect(ui(path)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await ui(path)).toMatchObject({ status: 200 });
  const { output } = await control.call('state', undefined, {
    entity: 'svc_requests',
    where: { via: 'ui' },
  });
  expect(output).toMatchObject({
    rows: [
      { status: 503, response: { faults: [{ name: 'busy' }] } },
      { status: null, response: { faults: [{ name: 'lost' }] } },
      { status: 200 },
    ],
  });
});

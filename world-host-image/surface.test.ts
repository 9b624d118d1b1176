/** Tests the API surface of a whole host before, during and after a session. */
import { describe, expect, it } from 'vitest';
import { issues, openOn, startBench } from '#test/support/host/host-bench.ts';

describe('the API surface', () => {
  it('answers routes in the vendor’s form and records every request', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    expect((await api('GET', issues, undefined, 'wrong')).status).toBe(401);
    const { body: warm } = await control.message('reportWarm');
    await fetch(`${warm.address}/users`, { headers: { 'x-visitor': 'st-one' } });
    const listed = await api('GET', `${issues}?state=open&number=2&number=1&unknown=1`);
    expect(listed.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await listed.json()).toMatchObject([{ id: 10 }, { id: 11 }]);
    expect(await (await api('GET', `${issues}/2`)).json()).toMatchObject({ id: 11 });
    const missing = await api('GET', `${issues}/77`);
    expect([missing.status, await missing.json()]).toEqual([404, { message: 'Not Found' }]);
    const created = await api('POST', issues, {
      title: 'New',
      assignee: { login: 'bob' },
      ignored: 1,
    });
    expect([created.status, await created.json()]).toEqual([
      201,
      {
        state: 'open',
        labels: [],
        title: 'New',
        assignee: 'bob',
        owner: 'ann',
        repo: 'engine',
        id: 13,
        number: 3,
      },
    ]);
    expect((await api('DELETE', `${issues}/3`)).status).toBe(204);
    const users = await (await api('GET', '/users')).json();
    expect(users).toMatchObject({ users: [{ id: 1 }, { id: 2 }] });
    const { output } = await control.call('state', undefined, { entity: 'svc_requests' });
    const { rows } = output as { rows: Record<string, unknown>[] };
    expect(rows.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'GET 401',
      'GET 401',
      'GET 200',
      'GET 200',
      'GET 404',
      'POST 201',
      'DELETE 204',
      'GET 200',
    ]);
    expect(rows[5]).toMatchObject({
      via: 'api',
      operation: 'create_issue',
      request: { headers: { authorization: 'token ***' } },
      changes: { issues: { inserted: 1 } },
      rows: [{ entity: 'issues', key: { id: 13 }, kind: 'inserted' }],
    });
    expect(JSON.stringify(rows)).not.toContain('st-one');
  });

  it('runs handlers in one transaction with their request', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    const added = await api('POST', `${issues}/1/labels`, { labels: ['later'] });
    expect([added.status, await added.json()]).toEqual([200, ['bug', 'p1', 'later']]);
    const failed = await api('POST', `${issues}/0/labels`, { labels: [] });
    expect([failed.status, await failed.json()]).toEqual([418, { message: 'no such issue' }]);
    expect((await api('POST', `${issues}/666/labels`, { labels: [] })).status).toBe(500);
    const users = await control.call('tool', 'list_issues', { assignee: 'ghost' });
    expect(users.output).toEqual([]);
    expect((await control.call('state')).output).toMatchObject({ counts: { users: 2 } });
    const where = { status: 500 };
    const page = await control.call('state', undefined, { entity: 'svc_requests', where });
    expect(JSON.stringify(page.output)).toContain('broken handler');
  });

  it('refuses requests that the vendor would refuse', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    const put = await api('PUT', issues);
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
    expect((await api('GET', '/nowhere')).status).toBe(404);
    expect((await api('GET', '/users/%E0%A4%A')).status).toBe(400);
    expect((await api('POST', issues, ['a list'])).status).toBe(422);
    expect((await api('POST', issues, { title: 5 })).status).toBe(422);
    expect((await api('DELETE', '/users/ann')).status).toBe(422);
    const { body: address } = await control.message('reportWarm');
    const raw = await fetch(`${address.address}${issues}`, {
      method: 'POST',
      headers: { authorization: 'Bearer st-one' },
      body: '{broken',
    });
    expect([raw.status, await raw.json()]).toEqual([400, { message: 'The body is not JSON' }]);
    const large = await api('POST', issues, { title: 'x'.repeat(2 * 1024 * 1024) });
    expect(large.status).toBe(413);
    const head = await api('HEAD', '/users');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).not.toBe('0');
  });

  it('answers that no session is served, before a session begins and after it ends', async () => {
    const { control, host } = await startBench();
    const { body } = await control.message('reportWarm');
    expect((await fetch(`${body.address}/users`)).status).toBe(503);
    const api = await openOn(control);
    control.close(true, 'recycle');
    await control.message('reportWarm', 2);
    expect((await api('GET', '/users')).status).toBe(410);
    control.drain();
    await host.ended;
  });
});

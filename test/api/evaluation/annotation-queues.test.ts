/** Tests annotation queues: how they are created, filled, completed and assigned. */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { projectIdOf } from '../../support/control/settings.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;
let configId: string;

type Body = {
  [member: string]: unknown;
  id: string;
  data: { id: string; objectId: string }[];
  meta: { totalItems: number; nextCursor?: string };
};

const ask = async (method: string, path: string, body?: object) => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const parts = { as, ...(body === undefined ? {} : { body }) };
  const answer = await createAsker(control)(method, path, parts);
  return { status: answer.status, body: answer.body as Body };
};

const must = async (method: string, path: string, body?: object): Promise<Body> => {
  const answer = await ask(method, path, body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const makeQueue = async (name: string): Promise<string> => {
  const body = { name, description: null, scoreConfigIds: [configId] };
  return `/annotation-queues/${(await must('POST', '/annotation-queues', body)).id}`;
};

/** Adds a member to the organization and returns its user id. */
const addMember = async (email: string, role: string): Promise<string> => {
  const as = control.accountAuthorization;
  const body = { email, role };
  const made = await createAsker(control)('PUT', '/organizations/memberships', { as, body });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  const [user] = await control.sql<{ id: string }>('select id from users where email = $1', [
    email,
  ]);
  return user?.id ?? '';
};

beforeAll(async () => {
  control = await shareControl();
  const config = await must('POST', '/score-configs', { name: 'quality', dataType: 'NUMERIC' });
  configId = config.id;
});

describe('an annotation queue', () => {
  it('is created with its score configs, and is listed', async () => {
    const body = { name: 'first', description: 'what is odd', scoreConfigIds: [configId] };
    const made = await must('POST', '/annotation-queues', { ...body, other: 1 });
    expect(made).toMatchObject(body);
    expect(await must('GET', `/annotation-queues/${made.id}`)).toEqual(made);
    expect((await must('GET', '/annotation-queues?limit=1')).data).toEqual([made]);
  });

  it.each([
    [{ name: 'first' }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(501) }, 'name'],
    [{ name: 'a', scoreConfigIds: [] }, 'scoreConfigIds'],
    [{ name: 'a', scoreConfigIds: ['none'] }, 'scoreConfigIds'],
    [{ name: 'a', scoreConfigIds: null }, 'scoreConfigIds'],
    [{ name: 7 }, 'name'],
  ])('is refused, and the error names the invalid field: %j', async (more, field) => {
    const { status, body } = await ask('POST', '/annotation-queues', {
      scoreConfigIds: [configId],
      ...more,
    });
    expect([status, body.error]).toMatchObject([400, [{ path: [field] }]]);
  });

  it('has one item for an object that several requests add at the same time', async () => {
    const queue = await makeQueue('once');
    const object = { objectId: 'trace/1', objectType: 'TRACE' };
    const added = await Promise.all(
      Array.from({ length: 6 }, () => must('POST', `${queue}/items`, object)),
    );
    expect(new Set(added.map(({ id }) => id)).size).toBe(1);
    await must('POST', `${queue}/items`, { ...object, objectType: 'SESSION' });
    expect((await must('GET', `${queue}/items`)).meta.totalItems).toBe(2);
  });

  it('marks its items as completed, and as pending again', async () => {
    const queue = await makeQueue('states');
    const item = await must('POST', `${queue}/items`, {
      ...{ objectId: 'o', objectType: 'OBSERVATION', status: null },
    });
    expect(item).toMatchObject({ status: 'PENDING', completedAt: null, objectId: 'o' });
    const path = `${queue}/items/${item.id}`;
    const done = await must('PATCH', path, { status: 'COMPLETED' });
    expect(done).toMatchObject({ status: 'COMPLETED', completedAt: expect.any(String) });
    expect((await must('PATCH', path, { status: 'COMPLETED' })).completedAt).toBe(done.completedAt);
    expect((await must('PATCH', path, {})).status).toBe('COMPLETED');
    const listed = async (status: string) =>
      (await must('GET', `${queue}/items?status=${status}`)).data.map(({ id }) => id);
    expect(await listed('COMPLETED')).toEqual([item.id]);
    expect(await listed('PENDING')).toEqual([]);
    const again = await must('PATCH', path, { status: 'PENDING' });
    expect(again).toMatchObject({ status: 'PENDING', completedAt: null });
    expect(await must('GET', path)).toEqual(again);
    expect((await ask('PATCH', path, { status: 'LOST' })).status).toBe(400);
    expect((await ask('GET', `${queue}/items?status=LOST`)).status).toBe(400);
    expect(await must('DELETE', path)).toMatchObject({ success: true });
    for (const method of ['GET', 'DELETE']) expect((await ask(method, path)).status).toBe(404);
    expect((await ask('PATCH', path, { status: 'PENDING' })).status).toBe(404);
  });

  it('does not find an item of another queue', async () => {
    const [queue, other] = [await makeQueue('mine'), await makeQueue('other')];
    const item = await must('POST', `${queue}/items`, { objectId: 'o', objectType: 'TRACE' });
    for (const method of ['GET', 'DELETE']) {
      expect((await ask(method, `${other}/items/${item.id}`)).status).toBe(404);
    }
    expect((await ask('PATCH', `${other}/items/${item.id}`, { status: 'PENDING' })).status).toBe(
      404,
    );
  });

  it.each([
    [{ objectType: 'TRACE' }, 'objectId'],
    [{ objectId: 'o' }, 'objectType'],
    [{ objectId: 'o', objectType: 'USER' }, 'objectType'],
    [{ objectId: 'o'.repeat(801), objectType: 'TRACE' }, 'objectId'],
  ])('refuses an invalid item: %j', async (item, field) => {
    const { data } = await must('GET', '/annotation-queues?limit=1');
    const path = `/annotation-queues/${data[0]?.id}/items`;
    const { status, body } = await ask('POST', path, item);
    expect([status, body.error]).toMatchObject([400, [{ path: [field] }]]);
  });
});

describe('an assignment to an annotation queue', () => {
  it('is made for a member who can read the project, and ends with the membership', async () => {
    const queue = await makeQueue('assigned');
    const userId = await addMember('ann@example.com', 'VIEWER');
    const assigned = await must('POST', `${queue}/assignments`, { userId });
    expect(assigned).toEqual({
      userId,
      queueId: queue.split('/').at(-1),
      projectId: await projectIdOf(control),
    });
    expect(await must('POST', `${queue}/assignments`, { userId })).toEqual(assigned);
    const count = async () => (await control.sql('select 1 from annotation_assignments')).length;
    expect(await count()).toBe(1);
    expect(await must('DELETE', `${queue}/assignments`, { userId })).toEqual({ success: true });
    expect(await must('DELETE', `${queue}/assignments`, { userId })).toEqual({ success: true });
    expect(await count()).toBe(0);

    await must('POST', `${queue}/assignments`, { userId });
    const removed = await createAsker(control)('DELETE', '/organizations/memberships', {
      as: control.accountAuthorization,
      body: { userId },
    });
    expect([removed.status, await count()]).toEqual([200, 0]);
    expect((await ask('POST', `${queue}/assignments`, { userId })).status).toBe(404);
  });

  it('is refused for any other user', async () => {
    const queue = await makeQueue('missing');
    const none = await addMember('bob@example.com', 'NONE');
    for (const userId of [none, 'usr-none', 'a\0b']) {
      expect((await ask('POST', `${queue}/assignments`, { userId })).status).toBe(404);
    }
    expect((await ask('POST', `${queue}/assignments`, {})).status).toBe(400);
    expect((await ask('POST', '/annotation-queues/none/assignments', { userId: 'x' })).status).toBe(
      404,
    );
  });
});

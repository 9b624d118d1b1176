/** Tests user profiles, user events with their values, and comments. */
import { beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { createAsker } from '../../support/control/client.ts';
import type { TestControl } from '../../support/control/control.ts';
import { projectIdOf } from '../../support/control/settings.ts';
import { shareControl } from '../../support/control/shared-control.ts';

let control: TestControl;

type Row = Record<string, unknown>;
type Body = { [member: string]: unknown; id: string; data: Row[]; meta: { totalItems: number } };

const ask = async (method: string, path: string, body?: object) => {
  const as = basicAuthorization(control.publicKey, control.secretKey);
  const answer = await createAsker(control)(method, path, {
    as,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: answer.body as Body };
};

const must = async (method: string, path: string, body?: object): Promise<Body> => {
  const answer = await ask(method, path, body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

const refusal = async (path: string, body: object) => {
  const { status, body: answer } = await ask('POST', path, body);
  const [first] = Array.isArray(answer.error) ? (answer.error as { path: string[] }[]) : [];
  return [status, first?.path[0]];
};

beforeAll(async () => {
  control = await shareControl();
});

describe('a user profile', () => {
  const put = (body: object) => must('POST', '/user-profiles', body);

  it('keeps fields that are absent or null, and merges attributes unless the request replaces them', async () => {
    const userId = 'ada/lovelace @ example';
    const made = await put({
      userId,
      displayName: 'Ada',
      attributes: { plan: 'pro', waitingHosts: 3 },
    });
    expect(made).toMatchObject({
      ...{ userId, displayName: 'Ada', email: null, notes: null, events: [] },
      attributes: { plan: 'pro', waitingHosts: 3 },
    });
    const merged = await put({
      userId,
      displayName: null,
      attributes: { waitingHosts: 4, x: null },
    });
    expect(merged).toMatchObject({
      displayName: 'Ada',
      attributes: { plan: 'pro', waitingHosts: 4, x: null },
      createdAt: made.createdAt,
    });
    const replaced = await put({
      userId,
      attributes: { y: 1 },
      mergeAttributes: false,
      notes: 'n',
    });
    expect(replaced).toMatchObject({ attributes: { y: 1 }, notes: 'n' });
    expect(await must('GET', `/user-profiles/${encodeURIComponent(userId)}`)).toEqual(replaced);
  });

  it('loses no accepted change when several changes arrive at once', async () => {
    const seen = await Promise.all(
      Array.from({ length: 4 }, (_, turn) =>
        ask('POST', '/user-profiles', { userId: 'crowd', attributes: { [`a${turn}`]: turn } }),
      ),
    );
    const taken = seen.flatMap(({ status }, turn) => (status === 200 ? [`a${turn}`] : []));
    expect(taken.length).toBeGreaterThan(0);
    const { attributes } = await must('GET', '/user-profiles/crowd');
    expect(Object.keys(attributes as object).sort()).toEqual(taken);
  });

  it('does not exist for an unknown user', async () => {
    expect((await ask('GET', '/user-profiles/missing')).status).toBe(404);
  });

  it.each([
    [{}, 'userId'],
    [{ userId: '' }, 'userId'],
    [{ userId: null }, 'userId'],
    [{ userId: 7 }, 'userId'],
    [{ userId: 'x'.repeat(801) }, 'userId'],
    [{ userId: 'u', displayName: 7 }, 'displayName'],
    [{ userId: 'u', email: {} }, 'email'],
    [{ userId: 'u', attributes: [] }, 'attributes'],
    [{ userId: 'u', attributes: 'x' }, 'attributes'],
    [{ userId: 'u', attributes: { x: 'x'.repeat(263_000) } }, 'attributes'],
    [{ userId: 'u', mergeAttributes: 'no' }, 'mergeAttributes'],
    [{ userId: 'u', notes: 'x'.repeat(100_001) }, 'notes'],
  ])('is refused, and the error names the invalid field', async (body, field) => {
    expect(await refusal('/user-profiles', body)).toEqual([400, field]);
  });
});

describe('user events', () => {
  const tell = (body: object) => must('POST', '/user-events', body);
  const range = { fromTimestamp: '2026-03-01T00:00:00Z', toTimestamp: '2026-03-02T00:00:00Z' };

  it('are counted and summed by name in the profile and in metrics', async () => {
    const at = (hour: number) => `2026-03-01T${String(hour).padStart(2, '0')}:00:00.000Z`;
    const userId = 'worth';
    const first = await tell({
      ...{ userId, event: 'hours_saved', value: 0.1, timestamp: at(3) },
      ...{ traceId: 't', sessionId: 's', metadata: { a: [1] } },
    });
    expect(first).toMatchObject({
      ...{ userId, event: 'hours_saved', value: 0.1, traceId: 't', sessionId: 's' },
      ...{ metadata: { a: [1] }, timestamp: at(3) },
    });
    await tell({ userId, event: 'hours_saved', value: 0.2, timestamp: at(1) });
    await tell({ userId, event: 'opened', value: null, metadata: null, timestamp: at(2) });
    await tell({ userId, event: 'refunded', value: -5, timestamp: at(2) });
    await tell({ userId: 'other', event: 'hours_saved', value: 7, timestamp: at(2) });
    expect((await must('GET', `/user-profiles/${userId}`)).events).toEqual([
      { event: 'hours_saved', count: 2, value: 0.3, firstAt: at(1), lastAt: at(3) },
      { event: 'opened', count: 1, value: 0, firstAt: at(2), lastAt: at(2) },
      { event: 'refunded', count: 1, value: -5, firstAt: at(2), lastAt: at(2) },
    ]);
    const query = {
      ...{ ...range, view: 'user-events', dimensions: [{ field: 'event' }] },
      metrics: [
        { measure: 'value', aggregation: 'sum' },
        { measure: 'count', aggregation: 'count' },
        { measure: 'uniqueUserIds', aggregation: 'uniq' },
      ],
    };
    for (const route of ['/metrics', '/v2/metrics']) {
      const path = `${route}?query=${encodeURIComponent(JSON.stringify(query))}`;
      const { data } = await must('GET', path);
      const [hours] = data;
      expect(hours).toMatchObject({ count_count: 3, uniq_uniqueUserIds: 2, event: 'hours_saved' });
      expect(hours?.sum_value).toBeCloseTo(7.3, 9);
    }
  });

  it('are listed latest first, filtered by user, name and time', async () => {
    const of = async (query: string) =>
      (await must('GET', `/user-events?${query}`)).data.map(({ event }) => event);
    const [latest, ...earlier] = await of('userId=worth');
    expect([latest, earlier.slice(0, 2).sort(), earlier[2]]).toEqual([
      ...['hours_saved', ['opened', 'refunded'], 'hours_saved'],
    ]);
    expect(await of('event=opened')).toEqual(['opened']);
    const times = 'fromTimestamp=2026-03-01T01:00:00Z&toTimestamp=2026-03-01T02:00:00Z';
    expect(await of(`${times}&userId=worth`)).toEqual(['hours_saved']);
    expect((await must('GET', '/user-events?userId=worth&limit=1')).meta.totalItems).toBe(4);
    for (const query of ['page=0', 'limit=101', 'fromTimestamp=now', 'cursor=x']) {
      expect((await ask('GET', `/user-events?${query}`)).status).toBe(400);
    }
  });

  it('count once per id, even when sent many times at once', async () => {
    const body = { id: 'once', userId: 'again', event: 'e', value: 2 };
    const answers = await Promise.all(Array.from({ length: 6 }, () => tell(body)));
    expect(new Set(answers.map(({ createdAt }) => createdAt)).size).toBe(1);
    expect((await must('GET', '/user-profiles/again')).events).toMatchObject([
      { count: 1, value: 2 },
    ]);
  });

  it.each([
    [{ event: 'e' }, 'userId'],
    [{ userId: 'u' }, 'event'],
    [{ userId: 'u', event: '' }, 'event'],
    [{ userId: 'u', event: 'x'.repeat(501) }, 'event'],
    [{ userId: 'u', event: 'e', value: '1' }, 'value'],
    [{ userId: 'u', event: 'e', value: 1e300 }, 'value'],
    [{ userId: 'u', event: 'e', timestamp: 'now' }, 'timestamp'],
    [{ userId: 'u', event: 'e', traceId: 7 }, 'traceId'],
    [{ userId: 'u', event: 'e', sessionId: {} }, 'sessionId'],
  ])('are refused with the name of the invalid field: %j', async (body, field) => {
    expect(await refusal('/user-events', body)).toEqual([400, field]);
  });

  it('store unusual text and JSON', async () => {
    const userId = `<script>'\u0000"; drop table users --\ud800`;
    const result = await tell({
      userId,
      event: 'é\u0000',
      metadata: JSON.parse('{"toString": {"a": 1}}'),
    });
    expect(result.event).toBe('é\ufffd');
    expect(JSON.stringify(result.metadata)).toBe('{"toString":{"a":1}}');
    expect(
      (await must('GET', `/user-events?userId=${encodeURIComponent(result.userId as string)}`))
        .data,
    ).toEqual([result]);
  });
});

describe('a comment', () => {
  const on = { objectType: 'TRACE', objectId: 'commented' };

  it('belongs to an object, whether that exists yet or not', async () => {
    const projectId = await projectIdOf(control);
    const { id } = await must('POST', '/comments', {
      ...{ ...on, projectId, content: 'odd: <b>*why*</b>', authorUserId: 'ada' },
    });
    const comment = await must('GET', `/comments/${id}`);
    expect(comment).toMatchObject({
      ...{ ...on, id, projectId, content: 'odd: <b>*why*</b>', authorUserId: 'ada' },
    });
    const second = await must('POST', '/comments', { ...on, content: 'n', authorUserId: null });
    await must('POST', '/comments', { objectType: 'SESSION', objectId: on.objectId, content: 's' });
    const ids = async (query: string) =>
      (await must('GET', `/comments?${query}`)).data.map((one) => one.id);
    expect(await ids('objectType=TRACE&objectId=commented')).toEqual(
      expect.arrayContaining([id, second.id]),
    );
    expect(await ids('objectType=TRACE')).toHaveLength(2);
    expect(await ids('authorUserId=ada')).toEqual([id]);
    expect((await must('GET', '/comments?limit=1')).meta.totalItems).toBe(3);
    expect((await ask('GET', '/comments/none')).status).toBe(404);
    expect((await ask('GET', '/comments?objectId=commented')).status).toBe(400);
    expect((await ask('GET', '/comments?objectType=SPAN')).status).toBe(400);
  });

  it.each([
    [{ ...on }, 'content'],
    [{ ...on, content: '' }, 'content'],
    [{ ...on, content: '  ' }, 'content'],
    [{ ...on, content: null }, 'content'],
    [{ ...on, content: 'x'.repeat(5_001) }, 'content'],
    [{ ...on, content: 'x', objectType: 'SPAN' }, 'objectType'],
    [{ content: 'x', objectType: 'TRACE' }, 'objectId'],
    [{ content: 'x', objectId: 't' }, 'objectType'],
    [{ ...on, content: 'x', projectId: 'another' }, 'projectId'],
    [{ ...on, content: 'x', authorUserId: 7 }, 'authorUserId'],
  ])('is refused with the name of the invalid field', async (body, field) => {
    expect(await refusal('/comments', body)).toEqual([400, field]);
  });
});

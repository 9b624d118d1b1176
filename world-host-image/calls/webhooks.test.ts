/** A session's list of subscriptions, and the recording of receivers' answers in its ledger. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '#test/support/host/serve-world.ts';
import { hookedWorld } from '#test/support/worlds/webhook-world.ts';
import type { SubscriptionList } from '#wire/public-api/sessions/delivery.ts';

let world: ServedWorld;
beforeAll(async () => {
  world = await serveWorld(hookedWorld([]));
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const subscribe = async (...hooks: Row[]): Promise<void> => {
  const { error } = await world.call('seed', undefined, { rows: { hooks } });
  expect(error).toBeUndefined();
};

const hook = (id: number, more: Row = {}): Row => ({
  id,
  url: `https://a.example/${id}`,
  secret: 'hush',
  ...more,
});

const list = async (offset = 0, limit = 50): Promise<SubscriptionList> => {
  const { output, error } = await world.call('webhooks', undefined, { offset, limit });
  expect(error).toBeUndefined();
  return output as SubscriptionList;
};

const send = async (input: Row = {}): Promise<void> => {
  expect((await world.call('tool', 'send', input)).error).toBeUndefined();
};

type Entry = { id: number; operation: string; status: number | null; request: Row; response: Row };

const ofWebhooks = async (): Promise<Entry[]> => {
  const input = { entity: 'svc_requests', where: { via: 'webhook' } };
  return ((await world.call('state', undefined, input)).output as { rows: Entry[] }).rows;
};

describe('the subscriptions of a session', () => {
  it('are listed with their events and numbers of deliveries, and without secrets', async () => {
    await subscribe(
      hook(1, { events: ['ping'], teams: ['red', 7] }),
      hook(2, { events: [], active: false }),
      hook(3, { events: ['*'], secret: null }),
      hook(4, { url: 'nowhere' }),
    );
    await send({ times: 2, scope: { team: 'red' } });
    await send({ scope: { team: 'blue' } });
    const { data, meta } = await list();
    expect(data).toEqual([
      {
        key: { id: 1 },
        world: null,
        url: 'https://a.example/1',
        events: ['ping'],
        scope: { team: ['red', 7] },
        enabled: true,
        skips: null,
        deliveries: 2,
      },
      expect.objectContaining({ events: null, enabled: false, skips: null, deliveries: 0 }),
      expect.objectContaining({ events: null, skips: expect.stringContaining('no secret') }),
      expect.objectContaining({ url: 'nowhere', skips: expect.stringContaining('can be reached') }),
    ]);
    expect(meta).toEqual({ total: 4, lastDelivery: (await ofWebhooks()).at(-1)?.id });
    expect(JSON.stringify(data)).not.toContain('hush');
  });

  it('have their counts set to 0 by a reset', async () => {
    await subscribe(hook(1));
    await send();
    await world.reset();
    await subscribe(hook(1));
    expect((await list()).data[0]?.deliveries).toBe(0);
    await send();
    expect((await list()).data[0]?.deliveries).toBe(1);
  });

  it('are listed in pages limited in rows and bytes', async () => {
    await subscribe(
      ...Array.from({ length: 30 }, (_, index) =>
        hook(index + 1, { events: ['x'.repeat(100_000)] }),
      ),
    );
    const seen: unknown[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page: SubscriptionList = await list(offset, 20);
      expect(JSON.stringify(page).length).toBeLessThan(1_200_000);
      expect(page.meta.total).toBe(30);
      seen.push(...page.data.map(({ key }) => key.id));
      offset = page.meta.next;
    }
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    expect(await list(30)).toMatchObject({ data: [], meta: { total: 30 } });
    expect((await list(3, 2)).data.map(({ key }) => key.id)).toEqual([4, 5]);
  });

  it('are an empty list if the world has no webhooks', async () => {
    const quiet = await serveWorld(hookedWorld([], ''));
    try {
      const { output } = await quiet.call('webhooks', undefined, { offset: 0, limit: 50 });
      expect(output).toEqual({ data: [], meta: { total: 0, lastDelivery: 0 } });
    } finally {
      await quiet.stop();
    }
  });
});

describe('the answer of a webhook’s receiver', () => {
  const answered = async (...answers: Row[]) => {
    const reports = answers.map((answer) => ({
      ...{ event: 'ping', status: 200, reason: null, sentTo: null, sender: 'listen' },
      ...{ durationMs: 12.5, at: '2026-01-01T00:00:00.000Z', ...answer },
    }));
    return world.call('webhook-answers', undefined, { answers: reports });
  };

  it('is recorded as one entry for each delivery, and can be graded', async () => {
    await subscribe(hook(1));
    await send({ times: 2 });
    const [first, second] = (await ofWebhooks()).map(({ id }) => id);
    expect((await answered({ delivery: first })).output).toEqual({ noted: 1 });
    const again = await answered(
      { delivery: first, status: 500 },
      { delivery: second, status: 0, reason: 'connection refused' },
    );
    expect(again.output).toEqual({ noted: 1 });
    expect((await ofWebhooks()).slice(2)).toMatchObject([
      {
        operation: 'ping.answer',
        status: 200,
        request: { delivery: first, sentTo: null, sender: 'listen' },
        response: { reason: null },
      },
      { operation: 'ping.answer', status: 0, response: { reason: 'connection refused' } },
    ]);
    const count = async (where: Row) => {
      const input = { entity: 'svc_requests', where: { via: 'webhook', ...where }, limit: 0 };
      return ((await world.call('state', undefined, input)).output as { total: number }).total;
    };
    expect(await count({ operation: 'ping.answer', status: 200 })).toBe(1);
    expect(await count({ operation: 'ping.answer', status: 0 })).toBe(1);
    expect(await count({ operation: 'ping' })).toBe(2);
  });

  it('is recorded only in the backlog if a reset has cleared the delivery from the ledger', async () => {
    await subscribe(hook(1));
    await send();
    const [before] = await ofWebhooks();
    await world.reset();
    await subscribe(hook(1));
    await send();
    const [after] = await ofWebhooks();
    expect(after?.request.generation).toBe(Number(before?.request.generation) + 1);
    await answered({ delivery: before?.id });
    expect(await ofWebhooks()).toHaveLength(1);
    await answered({ delivery: after?.id });
    expect((await ofWebhooks()).map(({ operation }) => operation)).toEqual(['ping', 'ping.answer']);
  });

  it('is refused if it is malformed', async () => {
    for (const answers of [undefined, {}, [{ delivery: 'x', event: 'ping' }], [7]]) {
      const { error } = await world.call('webhook-answers', undefined, { answers });
      expect(error).toMatchObject({ code: 'invalid_input', path: '/answers' });
    }
  });
});

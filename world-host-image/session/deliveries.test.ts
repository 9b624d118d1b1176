/** Which subscriptions match an event, what their deliveries contain, and when nothing is delivered. */
import { verify } from '@octokit/webhooks-methods';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOfDelivery } from '#domain/delivery.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import { type ServedWorld, serveWorld } from '#test/support/host/serve-world.ts';
import { hookedWorld } from '#test/support/worlds/webhook-world.ts';

let world: ServedWorld;
beforeAll(async () => {
  world = await serveWorld(hookedWorld([]));
});
afterAll(() => world.stop());

/** Resets the world, then adds the given subscriptions. */
const subscribe = async (...hooks: Row[]): Promise<void> => {
  await world.reset();
  const { error } = await world.call('seed', undefined, { rows: { hooks } });
  expect(error).toBeUndefined();
};

/**
 * Runs a test on a world of its own, with the given table `[webhooks]`, or with the default table if it is undefined.
 */
const elsewhere = async (table: string | undefined, work: () => Promise<void>): Promise<void> => {
  const usual = world;
  world = await serveWorld(hookedWorld([], table));
  try {
    await work();
  } finally {
    await world.stop();
    world = usual;
  }
};

type Entry = {
  id: number;
  operation: string;
  call_id: string | null;
  status: number | null;
  request: { url: string; headers: Record<string, string>; body: unknown; scope: unknown };
};

/** Returns the ledger's entries about deliveries. */
const delivered = async (): Promise<Entry[]> => {
  const input = { entity: 'svc_requests', where: { via: 'webhook' }, limit: 1_000 };
  const { output } = await world.call('state', undefined, input);
  return (output as { rows: Entry[] }).rows;
};

/** Returns the ledger's entries about skipped subscriptions. */
const skipped = async (): Promise<unknown[]> => {
  const input = { entity: 'svc_requests', where: { via: 'webhook-skipped' }, limit: 1_000 };
  const { output } = await world.call('state', undefined, input);
  return (output as { rows: unknown[] }).rows;
};

/** Returns the field `via` of each ledger entry since the seed, in order. */
const doors = async (): Promise<unknown[]> => {
  const { output } = await world.call('state', undefined, { entity: 'svc_requests' });
  const { rows } = output as { rows: { via: string; operation: string }[] };
  const seeded = rows.findLastIndex(({ operation }) => operation === 'seed');
  return rows.slice(seeded + 1).map(({ via }) => via);
};

/** Returns the last path segment of each URL to which an event was sent. */
const receiversOf = async (input: Row): Promise<string[]> => {
  const { length } = await delivered();
  const answer = await world.call('tool', 'send', input);
  expect(answer.error).toBeUndefined();
  const entries = (await delivered()).slice(length);
  return entries.map(({ request }) => request.url.replace('https://a.example/', ''));
};

const hook = (id: number, path: string, more: Row = {}): Row => ({
  id,
  url: `https://a.example/${path}`,
  secret: 'hush',
  ...more,
});

describe('an event', () => {
  it('is delivered to the active subscriptions that list its type', async () => {
    await subscribe(
      hook(1, 'all'),
      hook(2, 'none-named', { events: [], active: true }),
      hook(3, 'null', { events: null, active: null }),
      hook(4, 'named', { events: ['ping', 'pong'] }),
      hook(5, 'star', { events: ['*'] }),
      hook(6, 'other', { events: ['pong'] }),
      hook(7, 'off', { active: false }),
    );
    expect(await receiversOf({ type: 'ping' })).toEqual([
      'all',
      'none-named',
      'null',
      'named',
      'star',
    ]);
  });

  it('is delivered to subscriptions that list its scope, or that list no scope', async () => {
    await subscribe(
      hook(1, 'any'),
      hook(2, 'empty', { teams: [] }),
      hook(3, 'red', { teams: ['red', 7] }),
      hook(4, 'blue', { teams: ['blue'] }),
    );
    expect(await receiversOf({ scope: { team: 'red' } })).toEqual(['any', 'empty', 'red']);
    expect(await receiversOf({ scope: { team: ['blue', 7] } })).toEqual([
      'any',
      'empty',
      'red',
      'blue',
    ]);
    expect(await receiversOf({ scope: { team: '7' } })).toEqual(['any', 'empty']);
    expect(await receiversOf({ scope: { team: null } })).toHaveLength(4);
    expect(await receiversOf({})).toHaveLength(4);
  });

  it('is not delivered to subscriptions without a valid URL or a usable secret, and the ledger reports why', async () => {
    await subscribe(
      hook(1, 'fine'),
      { ...hook(2, ''), url: 'ftp://a.example/x' },
      { ...hook(3, ''), url: '/relative' },
      { ...hook(4, ''), url: 'https://' },
      hook(5, 'no-secret', { secret: null }),
      hook(6, 'empty-secret', { secret: '' }),
    );
    expect(await receiversOf({ scope: { team: 'red' } })).toEqual(['fine']);
    expect(await skipped()).toMatchObject(
      [
        { request: { url: 'ftp://a.example/x' }, response: { reason: /begins with http/ } },
        { request: { url: '/relative' }, response: { reason: /no receiver can be reached/ } },
        { request: { url: 'https://' }, response: { reason: /no receiver can be reached/ } },
        {
          operation: 'ping',
          status: null,
          call_id: expect.stringMatching(/^call-/),
          request: {
            url: 'https://a.example/no-secret',
            subscription: { id: 5 },
            scope: { team: 'red' },
          },
          response: { reason: 'it has no secret, which hmac-sha256 signs with' },
        },
        { response: { reason: 'hmac-sha256 cannot sign with its secret, which is empty' } },
      ].map(({ response: { reason }, ...rest }) => ({
        ...rest,
        response: { reason: typeof reason === 'string' ? reason : expect.stringMatching(reason) },
      })),
    );
  });

  it('causes entries for a limited number of skipped subscriptions, and an entry with the count of the others', async () => {
    const hooks = Array.from({ length: 103 }, (_, index) => hook(index + 1, '', { secret: null }));
    await subscribe(...hooks);
    expect(await receiversOf({})).toEqual([]);
    const entries = await skipped();
    expect(entries).toHaveLength(101);
    expect(entries.at(-1)).toMatchObject({
      request: { url: null, subscription: null },
      response: { reason: '3 more subscriptions to this event were passed over' },
    });
  });

  it('causes no entries for skipped subscriptions if its call fails', async () => {
    await subscribe(hook(1, '', { secret: null }));
    await world.call('tool', 'open_and_fail', { title: 'x' });
    expect(await skipped()).toEqual([]);
  });

  it('can be delivered without a secret if the world signs nothing', async () => {
    const table = '[webhooks]\nsubscriptions = "hooks"\nurl = "url"\nsigning = "none"\n';
    await elsewhere(table, async () => {
      await subscribe(hook(1, 'bare', { secret: null }));
      expect(await receiversOf({})).toEqual(['bare']);
    });
    await elsewhere(`${table}secret = "secret"\n`, async () => {
      await subscribe(
        hook(1, 'bare', { secret: null }),
        hook(2, 'named'),
        hook(3, 'empty', { secret: '' }),
      );
      expect(await receiversOf({})).toEqual(['bare', 'named', 'empty']);
      for (const { request } of await delivered()) {
        expect(Object.keys(request.headers)).toEqual(['content-type']);
      }
    });
  });

  it('is signed only for subscriptions with a secret if unsigned ones are allowed', async () => {
    const table = `[webhooks]
subscriptions = "hooks"
url = "url"
secret = "secret"
signing = "hmac-sha256"
signature_header = "X-Hub-Signature"
unsigned = true
`;
    await elsewhere(table, async () => {
      await subscribe(hook(1, 'bare', { secret: null }), hook(2, 'named'));
      expect(await receiversOf({})).toEqual(['bare', 'named']);
      const headers = (await delivered()).map(({ request }) => Object.keys(request.headers));
      expect(headers).toEqual([['content-type'], ['content-type', 'x-hub-signature']]);
    });
  });

  it('is refused if its type ends in “.answer”, like the type of ledger entries about answers', async () => {
    const { error } = await world.call('tool', 'send', { type: 'issue.answer' });
    expect(error).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('an event type may not end in ".answer"'),
    });
    await subscribe(hook(1, 'fine'));
    expect(await receiversOf({ type: 'answer' })).toEqual(['fine']);
  });
});

describe('a delivery', () => {
  it('is recorded after its call, with its signature and its exact body', async () => {
    await subscribe(hook(1, 'all'));
    const body = { token: 'not masked', title: 'Ünï', long: 'x'.repeat(100_000) };
    await world.call('tool', 'send', { body, scope: { team: 'red' } });
    const [entry] = await delivered();
    expect(entry).toMatchObject({
      operation: 'ping',
      call_id: expect.stringMatching(/^call-/),
      status: null,
      request: { url: 'https://a.example/all', body, scope: { team: 'red' } },
    });
    expect(await doors()).toEqual(['tool', 'webhook']);
    const signature = String(entry?.request.headers['x-signature']);
    expect(await verify('hush', JSON.stringify(entry?.request.body), signature)).toBe(true);
  });

  it('contains addresses that receivers can reach instead of the vendor’s, and the signature is valid for that text', async () => {
    await subscribe({ ...hook(1, 'all'), url: 'https://desk.example/notes' });
    const body = { url: 'https://desk.example/tickets/1', said: `${world.url}/tickets/1` };
    await world.call('tool', 'send', { body });
    const [entry] = await delivered();
    const address = `${world.url}/tickets/1`;
    expect(entry?.request).toMatchObject({
      url: `${world.url}/notes`,
      body: { url: address, said: address },
    });
    const signature = String(entry?.request.headers['x-signature']);
    expect(await verify('hush', JSON.stringify(entry?.request.body), signature)).toBe(true);
  });

  it('contains the current address of the session, whichever of the session’s addresses the code wrote', async () => {
    await elsewhere(undefined, async () => {
      await subscribe({ ...hook(1, 'all'), url: 'https://desk.example/notes' });
      const before = world.url;
      world.moveTo('http://127.0.0.1:4711');
      for (const known of [before, 'http://127.0.0.1:4711', 'https://desk.example']) {
        await world.call('tool', 'send', { body: { url: `${known}/tickets/1` } });
      }
      const address = 'http://127.0.0.1:4711';
      const request = { url: `${address}/notes`, body: { url: `${address}/tickets/1` } };
      expect(await delivered()).toMatchObject([{ request }, { request }, { request }]);
    });
  });

  it('is a signed form if its subscription has the content type of forms', async () => {
    const table = `[webhooks]\nsubscriptions = "hooks"\nurl = "url"\nsecret = "secret"
content_type = "content_type"\nsigning = "github"\n`;
    await elsewhere(table, async () => {
      await subscribe(
        hook(1, 'form', { content_type: 'form' }),
        hook(2, 'json', { content_type: 'json' }),
        hook(3, 'neither'),
      );
      const body = { a: 'b & c=ü', d: [1] };
      expect((await world.call('tool', 'send', { body })).error).toBeUndefined();
      const sent = (await delivered()).map(({ request: { headers, body: content } }) => {
        const type = String(headers['content-type']);
        return { type, headers, text: textOfDelivery(type, JSON.stringify(content)) };
      });
      expect(sent.map(({ type }) => type)).toEqual([
        'application/x-www-form-urlencoded',
        'application/json',
        'application/json',
      ]);
      expect(new URLSearchParams(sent[0]?.text).get('payload')).toBe(JSON.stringify(body));
      for (const { headers, text } of sent) {
        expect(await verify('hush', text, String(headers['x-hub-signature-256']))).toBe(true);
      }
      const long = await world.call('tool', 'send', { body: '&'.repeat(100_000) });
      expect(long.error?.message).toMatch(/ping as a form has 300014 bytes; the maximum is 262144/);
    });
  });

  it('has no masked value in its body, so that its signature is valid', async () => {
    await subscribe(hook(1, 'all'));
    const token = `st-${'Ab0'.repeat(14)}A`;
    await world.call('tool', 'send', { body: { said: `my token is ${token}` } });
    const [entry] = await delivered();
    expect(entry?.request.body).toEqual({ said: 'my token is ***' });
    const signature = String(entry?.request.headers['x-signature']);
    expect(await verify('hush', JSON.stringify(entry?.request.body), signature)).toBe(true);
  });

  it('is recorded only if its call or request succeeds', async () => {
    await subscribe(hook(1, 'all'));
    const post = async (path: string): Promise<number> => {
      const headers = { authorization: `Bearer ${world.token}` };
      return (await fetch(world.url + path, { method: 'POST', headers })).status;
    };
    const operations = async () => (await delivered()).map(({ operation }) => operation);
    await world.call('tool', 'open_and_fail', { title: 'x' });
    await world.call('tool', 'rename_and_throw', { id: 1, title: 'x' });
    expect([await post('/answers/422'), await post('/answers/503')]).toEqual([422, 503]);
    expect(await operations()).toEqual([]);
    expect([await post('/tickets/1/close'), await post('/tickets/1/close')]).toEqual([200, 409]);
    expect(await post('/answers/302')).toBe(302);
    await world.call('tool', 'rename_ticket', { id: 1, title: 'x' });
    expect(await operations()).toEqual(['ticket.closed', 'answered', 'ticket.renamed']);
  });
});

describe('large deliveries', () => {
  it('can be read page by page without an error, and each page states where the next page starts', async () => {
    await subscribe(...Array.from({ length: 20 }, (_, index) => hook(index + 1, `${index}`)));
    expect((await world.call('tool', 'send', { body: 'x'.repeat(250_000) })).error).toBeUndefined();
    const read: number[] = [];
    const sizes: number[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const where = { via: 'webhook' };
      const input: Row = { entity: 'svc_requests', where, limit: 1_000, offset };
      const answer = await world.call('state', undefined, input);
      const page = answer.output as { rows: Entry[]; total: number; next?: number };
      expect(page.total).toBe(20);
      read.push(...page.rows.map(({ id }) => id));
      sizes.push(JSON.stringify(answer).length);
      offset = page.next;
    }
    expect(new Set(read).size).toBe(20);
    expect(Math.max(...sizes)).toBeLessThan(limits.statePageBytes + 1_000);
  });

  it('are in the ledger up to its limit, and a state call reports how many are missing', async () => {
    // This needs a world of its own: its waiting deliveries would count against the limit of later tests.
    await elsewhere(undefined, async () => {
      await subscribe(...Array.from({ length: 100 }, (_, index) => hook(index + 1, `${index}`)));
      const body = 'x'.repeat(200_000);
      const read = async () =>
        (await world.call('state', undefined, { entity: 'svc_requests', limit: 1 })).output as Row;
      expect((await world.call('tool', 'send', { body, times: 3 })).error).toBeUndefined();
      expect(await read()).not.toHaveProperty('missing');
      expect((await world.call('tool', 'send', { body, times: 1 })).error).toBeUndefined();
      const { total, missing } = (await read()) as { total: number; missing: number };
      expect(missing).toBeGreaterThan(0);
      expect(total + missing).toBe(403);
    });
  });
});

describe('limits of deliveries', () => {
  const refused = async (input: Row, kind: string, message: RegExp): Promise<void> => {
    const answer = await world.call('tool', 'send', input);
    expect(answer.error).toMatchObject({
      code: 'refused',
      message: expect.stringMatching(message),
      details: { kind },
    });
    expect(await delivered()).toEqual([]);
  };

  it('apply to the deliveries of an event and of a call', async () => {
    const hooks = Array.from({ length: 101 }, (_, index) => hook(index + 1, `${index}`));
    await subscribe(...hooks.slice(0, 100));
    await refused({ times: 6 }, 'full', /would make 600 deliveries; the maximum is 500/);
    expect((await world.call('tool', 'send', { times: 5 })).error).toBeUndefined();
    expect(await delivered()).toHaveLength(500);
    await subscribe(...hooks);
    await refused({}, 'full', /would reach 101 subscriptions; the maximum is 100/);
  });

  it('fail the whole call, even if its code catches the refusal and continues', async () => {
    await subscribe(...Array.from({ length: 100 }, (_, index) => hook(index + 1, `${index}`)));
    const before = await world.call('state', undefined, {});
    for (const input of [{ times: 5 }, { body: 'x'.repeat(300_000) }]) {
      const { error } = await world.call('tool', 'open_and_send', input);
      expect(error).toMatchObject({ code: 'full', details: { entity: 'hooks' } });
    }
    expect(await world.call('state', undefined, {})).toEqual(before);
    expect(await delivered()).toEqual([]);
    expect((await world.call('tool', 'open_and_send', { times: 4 })).error).toBeUndefined();
    expect(await delivered()).toHaveLength(500);
  });

  it('apply to the bytes of a body', async () => {
    await subscribe(hook(1, 'all'));
    const most = 256 * 1024 - 2;
    await refused({ body: 'x'.repeat(most + 1) }, 'full', /262145 bytes; the maximum is 262144/);
    expect((await world.call('tool', 'send', { body: 'x'.repeat(most) })).error).toBeUndefined();
  });

  it('apply to the nesting and member names of a body, so that its ledger entry can be read', async () => {
    await subscribe(hook(1, 'all'));
    const inheriting = { constructor: { prototype: 1 } };
    await refused({ body: inheriting }, 'shape', /the body of ping has a member "__proto__"/);
    await refused({ levels: 65 }, 'shape', /the body of ping nests deeper than 64 levels/);
    expect((await world.call('tool', 'send', { levels: 64 })).error).toBeUndefined();
    expect(await delivered()).toHaveLength(1);
  });

  it('also refuse malformed events, with the reason', async () => {
    await subscribe(hook(1, 'all'));
    await refused({ type: 'two words' }, 'shape', /characters without spaces/);
    await refused({ type: '' }, 'shape', /characters without spaces/);
    await refused({ type: 'x'.repeat(250) }, 'shape', /at most 249 characters/);
    await refused({ id: 'two words' }, 'shape', /id of a delivery must be a text of 1 to 256/);
    await refused({ scope: { tem: 1 } }, 'shape', /no scope "tem"; there is team/);
    await elsewhere('', () => refused({}, 'unknown_entity', /declares no \[webhooks\]/));
  });
});

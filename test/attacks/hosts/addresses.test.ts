/**
 * Attacks on a session's route: the holder of a stolen host token reports another address. The
 * gateway would then read a server of the installation's own network and serve it at the session's
 * public address.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HostAddressing } from '#domain/host-address.ts';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';
import { resolveRoute } from '#wire/gateway-api/operations.ts';
import { heartbeat, pollHost, reportReady, reportWarm } from '#wire/host-api/operations.ts';
import { registerHost, reportLaunched } from '#wire/pool-api/operations.ts';
import { closeSession, createWorld, getSession, openSession } from '#wire/public-api/operations.ts';
import type { Send } from '../../support/control/control.ts';
import {
  anyHost,
  baseState,
  clearPool,
  type PlayedHost,
  play,
  playedAddress,
} from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  const template = parseSurfaceTemplate('http://{session}--{surface}.worlds.test');
  if (template === undefined) throw new Error('no template');
  control = await startNotesControl({ gateway: { template, token: new Secret('gt') } });
  await control.send(createWorld, { body: { slug: 'code-hosting', from: 'code-hosting' } });
});
afterEach(() => clearPool(control));
afterAll(() => control.stop());

type RuntimeName = 'process' | 'docker' | 'kubernetes';
const runtimes: RuntimeName[] = ['process', 'docker', 'kubernetes'];

/**
 * For each runtime: how it addresses hosts, the address of one host, and the source address of that host's requests.
 */
const places: Record<
  RuntimeName,
  { addressing: HostAddressing; source: string; address: (hostId: string) => string }
> = {
  process: { addressing: 'loopback', source: '127.0.0.1', address: playedAddress },
  docker: { addressing: 'assigned', source: '172.18.0.2', address: playedAddress },
  kubernetes: {
    addressing: 'own_ip',
    source: '10.1.2.3',
    address: () => 'http://10.1.2.3:8080',
  },
};

type Placed = PlayedHost & { address: string; source: string };

const tell = (send: Send, hostId: string, generation: number, address?: string, more = {}) =>
  send(reportWarm, {
    params: { hostId },
    body: { generation, ...(address === undefined ? {} : { address }), ...more },
  });

/** Launches a host that has not sent any report yet. */
const launch = async (runtime: RuntimeName): Promise<Placed> => {
  const { addressing, source, address } = places[runtime];
  const { body } = await control.pool(registerHost, {
    body: { ...anyHost, runtime, addressing, maxLive: 1_000 },
  });
  const params = { hostId: body.hostId };
  const known = runtime === 'docker' ? { address: address(body.hostId) } : {};
  await control.pool(reportLaunched, { params, body: { runtimeId: 'r', ...known } });
  const host = play(body.hostId, body.token, control.asHost(body.token, source));
  return Object.assign(host, { address: address(body.hostId), source });
};

const warm = async (runtime: RuntimeName): Promise<Placed> => {
  const host = await launch(runtime);
  await tell(host.send, host.id, 0, runtime === 'docker' ? undefined : host.address);
  return host;
};

const serve = async (host: PlayedHost): Promise<string> => {
  const { body } = await control.send(openSession, {
    body: { slug: 'code-hosting', reuseWarm: true },
  });
  await host.poll();
  await host.ready();
  return body.id;
};

const routeOf = async (sessionId: string): Promise<string | undefined> =>
  (await control.gateway(resolveRoute, { params: { sessionId } })).body.surfaces.api;

/** Internal addresses that an attacker would have the gateway read. */
const internal = [
  'http://127.0.0.1:5432',
  'http://127.0.0.1:4500',
  'http://169.254.169.254:80',
  'http://10.1.2.4:8080',
  'http://10.1.2.3:80',
  'http://[::1]:5432',
  'http://[::ffff:127.0.0.1]:5432',
  'http://0x7f000001:5432',
  'http://2130706433:5432',
  'http://127.1:5432',
  'http://localhost:5432',
  'http://postgres.svc:5432',
  'http://someone@127.0.0.1:5432',
  'http://127.0.0.1:5432/metrics?x=',
  'https://127.0.0.1:5432',
  '//127.0.0.1:5432',
  '',
];

describe.each(runtimes)('a host on %s that serves a session', (runtime) => {
  it.each(internal)(
    'keeps its address when the holder of its token reports %j',
    async (address) => {
      const host = await warm(runtime);
      const sessionId = await serve(host);
      for (const generation of [0, 1, 2]) {
        await expect(tell(host.send, host.id, generation, address)).rejects.toMatchObject({
          code: expect.stringMatching(/^(forbidden|conflict)$/),
        });
      }
      expect(await routeOf(sessionId)).toBe(host.address);
    },
  );

  it('keeps its address when any other message of the host API names one', async () => {
    const host = await warm(runtime);
    const { body } = await control.send(openSession, { body: { slug: 'code-hosting' } });
    const sneaked = { address: internal[0], hostAddress: internal[0], source: '10.9.8.7' };
    const params = { hostId: host.id };
    await host.send(pollHost, { params, body: { generation: 0, ...sneaked } });
    await host.poll();
    const beat = { generation: 1, rssBytes: 1, ...sneaked };
    await host.send(heartbeat, { params, body: beat });
    const { bundle = baseState } = host.assignment ?? {};
    await host.send(reportReady, {
      params: { sessionId: body.id },
      body: { generation: 1, holding: { bundle, stateDigest: baseState }, ...sneaked },
    });
    expect(await routeOf(body.id)).toBe(host.address);
  });

  it('keeps its address while it is recycled and at its next session', async () => {
    const host = await warm(runtime);
    const params = { sessionId: await serve(host) };
    await control.send(closeSession, { params, body: { keepWarm: true } });
    await host.closed();
    const { bundle = baseState } = host.assignment ?? {};
    const holding = { bundle, stateDigest: baseState };
    const { id, send, generation } = host;
    const other = runtime === 'kubernetes' ? 'http://10.1.2.4:8080' : 'http://127.0.0.1:5432';
    const moved = tell(send, id, generation, other, { holding, found: [] });
    await expect(moved).rejects.toMatchObject({ code: 'forbidden' });
    const same = runtime === 'docker' ? undefined : host.address;
    await tell(send, id, generation, same, { holding, found: [] });
    expect(await routeOf(await serve(host))).toBe(host.address);
  });

  it('keeps its address when another machine reports its own address with the stolen token', async () => {
    const host = await warm(runtime);
    const sessionId = await serve(host);
    const from = control.asHost(host.token, '10.9.8.7');
    const result = tell(from, host.id, 1, 'http://10.9.8.7:8080');
    await expect(result).rejects.toMatchObject({ code: 'forbidden' });
    expect(await routeOf(sessionId)).toBe(host.address);
  });
});

describe('a host before its first report', () => {
  it.each(['process', 'kubernetes'] as const)(
    'on %s can report no address but its own',
    async (runtime) => {
      const host = await launch(runtime);
      const own =
        runtime === 'process' ? /^http:\/\/127\.0\.0\.1:\d+$/ : /^http:\/\/10\.1\.2\.3:8080$/;
      for (const address of internal.filter((one) => !own.test(one))) {
        const result = tell(host.send, host.id, 0, address);
        await expect(result, address).rejects.toMatchObject({ code: 'forbidden' });
      }
      await tell(host.send, host.id, 0, host.address);
      await tell(host.send, host.id, 0, host.address); // A repeat, as after a lost answer.
      expect(await routeOf(await serve(host))).toBe(host.address);
    },
  );

  it('can report its address only in its first report, before code of a world could report an address', async () => {
    const host = await launch('process');
    await tell(host.send, host.id, 0);
    const late = tell(host.send, host.id, 0, host.address);
    await expect(late).rejects.toMatchObject({ code: 'forbidden' });
  });
});

it('clients do not see the addresses of hosts', async () => {
  const host = await warm('kubernetes');
  const sessionId = await serve(host);
  const { body } = await control.send(getSession, { params: { sessionId } });
  expect(JSON.stringify(body)).not.toContain('10.1.2.3');
});

it('a host address that is not an IP address with a port is refused from an orchestrator, too', async () => {
  const host = await launch('docker');
  const params = { hostId: host.id };
  for (const address of internal.filter((one) => !/^http:\/\/(\[::1\]|[\d.]{8,}):\d+$/.test(one))) {
    const result = control.pool(reportLaunched, { params, body: { runtimeId: 'r', address } });
    await expect(result, address).rejects.toMatchObject({ code: 'invalid' });
  }
});

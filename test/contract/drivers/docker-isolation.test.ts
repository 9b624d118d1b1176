/**
 * Tests the isolation of a host on Docker. Inside a running host, the user that runs world code attempts what the
 * isolation must prevent.
 */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import type { Driver } from '../../../orchestrator/driver/driver.ts';
import { type HostApi, startHostApi } from '../../support/orchestrator/host-api.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import {
  docker,
  driverOf,
  newInstallation,
  prepareQuietly,
  runtimes,
} from '../../support/orchestrator/runtimes.ts';
import { dockerAnswers } from '../../support/programs/prepare-docker.ts';

const hasDocker = await dockerAnswers();
if (!hasDocker) console.info('isolation on Docker is not tested: no Docker engine answers');

/** Returns Python code that prints `open`, or the name of the error when a connection fails. */
const connecting = (address: string, port: number): string => `
import socket
try:
  socket.create_connection(("${address}", ${port}), 3)
  print("open")
except OSError as error:
  print(type(error).__name__, error.errno)
`;

const sending = (address: string, port: number): string => `
import socket
family = socket.AF_INET6 if ":" in "${address}" else socket.AF_INET
try:
  socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", ("${address}", ${port}))
  print("sent")
except OSError as error:
  print(type(error).__name__, error.errno)
`;

const macFormat = '{{range .NetworkSettings.Networks}}{{.MacAddress}}{{end}}';

/** Returns the IPv6 link-local address that an interface derives from its MAC address. */
const linkLocalOf = (mac: string): string => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac
    .split(':')
    .map((part) => parseInt(part, 16));
  const groups = [(a ^ 2) * 256 + b, c * 256 + 0xff, 0xfe00 + d, e * 256 + f];
  return `fe80::${groups.map((group) => group.toString(16)).join(':')}`;
};

describe.skipIf(!hasDocker)('a world host on Docker', () => {
  const runtime = runtimes.docker;
  const installation = newInstallation();
  const hosts = [newId('hst'), newId('hst')] as const;
  let control: HostApi;
  let other: Server;
  let gateway: string;
  let image: string;
  let driver: Driver;

  beforeAll(async () => {
    const first = await driverOf(runtime, installation, 'http://127.0.0.1:1');
    const { listen, host, ...prepared } = await prepareQuietly(first);
    image = String(prepared.image);
    gateway = listen ?? host;
    const addresses = ['127.0.0.1', ...(listen === null ? [] : [listen])];
    control = await startHostApi(addresses);
    other = createServer((_, response) => response.end('not for hosts')).listen(
      0,
      listen ?? '127.0.0.1',
    );
    await once(other, 'listening');
    const controlUrl = `http://${host}:${control.port}`;
    driver = await driverOf(runtime, installation, controlUrl, prepared.image);
    for (const hostId of hosts) {
      const shape = testPool({ isolation: 'container' });
      await driver.launch({ hostId, generation: 0, token: new Secret('token'), shape });
    }
  }, 300_000);

  afterAll(async () => {
    for (const hostId of hosts) await driver.destroy(hostId);
    await driver.dismantle();
    await control.close();
    other.close();
  });

  /** Runs a command in the first host's container, as the host's own user. */
  const inside = (...command: string[]): Promise<string> =>
    docker('exec', `svc-${hosts[0]}`, ...command);

  const python = (script: string): Promise<string> => inside('python3', '-c', script);

  const addressOf = (hostId: string): Promise<string> =>
    docker(
      'inspect',
      '--format',
      '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
      `svc-${hostId}`,
    );

  it('has a heap limit that leaves memory for workers and rows', async () => {
    const limit = "require('node:v8').getHeapStatistics().heap_size_limit / 2 ** 20";
    expect(Number(await inside('node', '--print', limit))).toBe(192 + 3 * 16);
  });

  it('reaches the control plane', async () => {
    expect(await python(connecting(gateway, control.port))).toBe('open');
  });

  it('cannot reach another port of the machine', async () => {
    const { port } = other.address() as AddressInfo;
    expect(await python(connecting(gateway, port))).not.toBe('open');
    expect(await python(connecting('172.17.0.1', control.port))).not.toBe('open');
  });

  /** Returns the loopback port on which the second host's API server is published. */
  const publishedPort = async (): Promise<number> =>
    Number((await docker('port', `svc-${hosts[1]}`, '8080/tcp')).split(':').at(-1));

  it('cannot reach another host by its address, its name or its published port', async () => {
    const published = await publishedPort();
    expect(await python(connecting(await addressOf(hosts[1]), 8080))).not.toBe('open');
    expect(await python(connecting(`svc-${hosts[1]}`, 8080))).not.toBe('open');
    for (const address of [gateway, '127.0.0.1', '172.17.0.1']) {
      expect(await python(connecting(address, published))).not.toBe('open');
    }
    const mac = await docker('inspect', '--format', macFormat, `svc-${hosts[1]}`);
    expect(await python(connecting(`${linkLocalOf(mac)}%eth0`, 8080))).not.toBe('open');
  });

  it('has its API server on loopback only, so that it cannot be reached at other addresses of the machine', async () => {
    const published = await publishedPort();
    const opens = (address: string): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect({ port: published, host: address, timeout: 3_000 });
        const end = (isOpen: boolean) => (): void => {
          socket.destroy();
          resolve(isOpen);
        };
        socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
      });
    expect(await opens('127.0.0.1')).toBe(true);
    const others = Object.values(networkInterfaces())
      .flatMap((found) => found ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal);
    for (const { address } of others)
      expect([address, await opens(address)]).toEqual([address, false]);
  });

  it('cannot reach a container on another bridge or the engine', async () => {
    const name = `svc-test-neighbour-${installation}`;
    const serve = 'require("node:net").createServer().listen(8080, "0.0.0.0")';
    await docker('run', '--detach', '--rm', '--name', name, image, 'node', '--eval', serve);
    try {
      const address = await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', name);
      expect(await python(connecting(address, 8080))).not.toBe('open');
    } finally {
      await docker('rm', '--force', name);
    }
    for (const port of [2375, 2376]) {
      expect(await python(connecting(gateway, port))).not.toBe('open');
    }
    expect(
      await inside('sh', '-c', 'ls /var/run/docker.sock /run/docker.sock 2>&1; true'),
    ).not.toMatch(/^\/(var\/)?run\/docker\.sock$/m);
  });

  it.each(['169.254.169.254', '1.1.1.1', '10.0.0.1', 'fd00:ec2::254', '2606:4700::1111'])(
    'cannot reach %s',
    async (address) => {
      expect(await python(connecting(address, 80))).toMatch(/Error|timed out/);
      expect(await python(sending(address, 53))).not.toBe('sent');
    },
  );

  it('cannot resolve external names or send to the resolver of the engine', async () => {
    expect(await python(sending('127.0.0.11', 53))).not.toBe('sent');
    const lookup =
      'import socket\ntry: print(socket.gethostbyname("example.com"))\nexcept OSError: print("no")';
    expect(await python(lookup)).toBe('no');
  });

  it('cannot remove its egress policy, even as root', async () => {
    await expect(inside('nft', 'flush', 'ruleset')).rejects.toThrow(/not permitted/);
    const asRoot = docker('exec', '--user', '0', `svc-${hosts[0]}`, 'nft', 'flush', 'ruleset');
    await expect(asRoot).rejects.toThrow(/not permitted/);
  });

  it('runs as its own user, without capabilities, and cannot gain any', async () => {
    const status = await inside('cat', '/proc/self/status');
    expect(status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, 'm'));
    }
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    await expect(inside('unshare', '--user', '--net', 'true')).rejects.toThrow();
  });

  it('can write only to its scratch space, which is limited in size', async () => {
    await expect(inside('touch', '/opt/svc/x')).rejects.toThrow(/Read-only/);
    await expect(inside('touch', '/etc/x')).rejects.toThrow(/Read-only/);
    await inside('touch', '/tmp/x');
    const filling = 'dd if=/dev/zero of=/tmp/full bs=1M count=400 2>&1; rm -f /tmp/full';
    expect(await inside('sh', '-c', filling)).toMatch(/No space left/);
  });

  it('cannot start more processes than its limit', async () => {
    const forking = `
import os, time
children = []
try:
  for _ in range(300):
    pid = os.fork()
    if pid == 0:
      time.sleep(20)
      os._exit(0)
    children.append(pid)
except OSError as error:
  print(type(error).__name__)
print(len(children))
for pid in children: os.kill(pid, 9)
`;
    const [error, started] = (await python(forking)).split('\n');
    expect(error).toBe('BlockingIOError');
    expect(Number(started)).toBeLessThan(128);
  });

  it('is limited in memory and CPU', async () => {
    const format = '{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}}';
    const bounds = await docker('inspect', '--format', format, `svc-${hosts[0]}`);
    expect(bounds).toBe('536870912 536870912');
    const burning = `
import os, time
end = time.monotonic() + 2
for _ in range(4):
  if os.fork() == 0:
    while time.monotonic() < end: pass
    os._exit(0)
for _ in range(4): os.wait()
times = os.times()
print(times.children_user + times.children_system)
`;
    const usedSeconds = Number((await python(burning)).split('\n').at(-1));
    expect(usedSeconds).toBeLessThan(2.6);
  });

  it('is reported as out of memory when its heap is full', async () => {
    const hostId = newId('hst');
    const shape = testPool({ isolation: 'container' });
    const { runtimeId } = await driver.launch({
      hostId,
      generation: 0,
      token: new Secret('token'),
      shape,
    });
    await until(() => control.warm.has(hostId), { timeoutMs: 20_000, what: `${hostId} warm` });
    // V8 aborts this way when its heap is full. The container's first process is Docker's and does not forward this
    // signal.
    await docker('exec', runtimeId, 'sh', '-c', 'kill -ABRT $(cat /proc/1/task/1/children)');
    const exit = async () => (await driver.list()).find((found) => found.hostId === hostId)?.exit;
    expect(await until(exit, { timeoutMs: 20_000, what: `the end of ${hostId}` })).toMatchObject({
      reason: 'out_of_memory',
    });
    await driver.destroy(hostId);
  });
});

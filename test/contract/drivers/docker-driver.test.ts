/**
 * Tests the Docker driver beyond the contract of drivers: an engine that goes away and comes back, missed events,
 * containers that are paused or have a conflicting name, and missing images and isolations.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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
const socket = process.env.DOCKER_HOST?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';
const hasSocket = hasDocker && existsSync(socket);
if (!hasSocket)
  console.info('what Docker does when it is away is not tested: no engine has a socket');

const waitMs = 20_000;

/** Connection to the engine that a test can cut. */
type Wire = { address: string; cut(): Promise<void>; mend(): Promise<void> };

const startWire = async (): Promise<Wire> => {
  const open = new Set<Socket>();
  let server: Server;
  let port = 0;
  const mend = async (): Promise<void> => {
    server = createServer((near) => {
      const far = connect(socket);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        open.add(from);
        from.on('error', () => to.destroy()).on('close', () => to.destroy());
        from.pipe(to);
      }
    });
    server.listen(port, '127.0.0.1');
    await until(() => server.listening, { timeoutMs: waitMs, what: 'the wire to listen' });
    port = (server.address() as { port: number }).port;
  };
  await mend();
  return {
    address: `tcp://127.0.0.1:${port}`,
    mend,
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const end of open) end.destroy();
      open.clear();
      await closed;
    },
  };
};

describe.skipIf(!hasSocket)('the Docker driver', () => {
  const installation = newInstallation();
  const shape = testPool({ isolation: 'container' });
  let control: HostApi;
  let controlUrl: string;
  let image: string;
  let wire: Wire;
  let driver: Driver;

  beforeAll(async () => {
    const first = await driverOf(runtimes.docker, installation, 'http://127.0.0.1:1');
    const prepared = await prepareQuietly(first);
    image = String(prepared.image);
    const addresses = prepared.listen === null ? [] : [prepared.listen];
    control = await startHostApi(['127.0.0.1', ...addresses]);
    controlUrl = `http://${prepared.host}:${control.port}`;
    wire = await startWire();
    const config = { ...runtimes.docker.config, engine: wire.address };
    driver = await driverOf({ ...runtimes.docker, config }, installation, controlUrl, image);
  }, 300_000);

  afterEach(async () => {
    for (const { hostId } of await driver.list()) await driver.destroy(hostId);
  });

  afterAll(async () => {
    await driver.dismantle();
    await wire.cut();
    await control.close();
    expect(await runtimes.docker.leftovers(installation)).toEqual([]);
  });

  const specOf = (hostId: string, changes: Partial<typeof shape> = {}) => ({
    hostId,
    generation: 0,
    token: new Secret('token'),
    shape: { ...shape, ...changes },
  });

  const launch = async (): Promise<string> => {
    const hostId = newId('hst');
    await driver.launch(specOf(hostId));
    return hostId;
  };

  it('reports that the engine is away, and lists the current state of all hosts when it is back', async () => {
    const [stays, ends] = [await launch(), await launch()];
    let changes = 0;
    const watch = driver.watch(() => {
      changes += 1;
    });
    await until(() => changes > 0, { timeoutMs: waitMs, what: 'the watch' });
    await wire.cut();
    let before = 0;
    try {
      await expect(driver.list()).rejects.toMatchObject({ code: 'unavailable' });
      const refused = driver.launch(specOf(newId('hst')));
      await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
      await docker('kill', `svc-${ends}`);
      before = changes;
    } finally {
      await wire.mend();
    }
    await until(() => changes > before, { timeoutMs: waitMs, what: 'notice of what was missed' });
    const phases = (await driver.list()).map(({ hostId, phase }) => [hostId, phase]);
    expect(Object.fromEntries(phases)).toEqual({ [stays]: 'running', [ends]: 'exited' });
    const again = changes;
    await docker('kill', `svc-${stays}`);
    await until(() => changes > again, { timeoutMs: waitMs, what: 'a notice as before' });
    await watch.stop();
  });

  it('gives hosts of one machine the same folder for snapshots, and launches none where the folder is missing', async () => {
    const path = await mkdtemp(join(tmpdir(), 'svc-test-snapshots-'));
    await chmod(path, 0o777); // hosts run as another user
    const sharing = (folder: string) =>
      driverOf(runtimes.docker, installation, controlUrl, image, { path: folder, mb: 64 });
    try {
      const both = await sharing(path);
      const hosts = [newId('hst'), newId('hst')];
      for (const hostId of hosts) await both.launch(specOf(hostId));
      const [one, other] = hosts.map((hostId) => `svc-${hostId}`);
      await docker('exec', `${one}`, 'sh', '-c', 'echo shared > $SVC_SNAPSHOT_DIR/file');
      expect(await docker('exec', `${other}`, 'cat', '/snapshots/file')).toBe('shared');
      await docker('exec', `${other}`, 'rm', '/snapshots/file');
      const none = (await sharing(`${path}-none`)).launch(specOf(newId('hst')));
      await expect(none).rejects.toMatchObject({
        code: 'unavailable',
        cause: { message: expect.stringContaining(`${path}-none`) },
      });
    } finally {
      await rm(path, { recursive: true });
    }
  });

  it('counts a paused host as running, and can destroy it', async () => {
    const hostId = await launch();
    // An engine may fail to pause a container that is still starting.
    await until(() => control.warm.has(hostId), { timeoutMs: waitMs, what: `${hostId} warm` });
    await docker('pause', `svc-${hostId}`);
    expect(await driver.list()).toMatchObject([{ hostId, phase: 'running' }]);
    await driver.destroy(hostId);
    expect(await driver.list()).toEqual([]);
  });

  it('reports the current address of a host whenever it leaves or joins its network', async () => {
    const hostId = newId('hst');
    const { address } = await driver.launch(specOf(hostId));
    const result = async () => (await driver.list())[0]?.address;
    expect(await result()).toBe(address);
    let changes = 0;
    const watch = driver.watch(() => {
      changes += 1;
    });
    try {
      await until(() => changes >= 2, { timeoutMs: waitMs, what: 'both watches' });
      for (const [step, expected] of [
        ['disconnect', null],
        ['connect', expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)],
      ] as const) {
        const before = changes;
        await docker('network', step, `svc-${installation}`, `svc-${hostId}`);
        await until(() => changes > before, { timeoutMs: waitMs, what: `notice of the ${step}` });
        expect(await result()).toEqual(expected);
      }
      const adopted = await driver.adopt(hostId);
      expect(await result()).toBe(adopted.address);
    } finally {
      await watch.stop();
    }
  });

  it('does not touch a container of the same name in another installation', async () => {
    const hostId = newId('hst');
    const label = 'svc.installation=another';
    const name = `svc-${hostId}`;
    await docker(
      'create',
      '--name',
      name,
      '--label',
      label,
      '--label',
      `svc.host=${hostId}`,
      image,
    );
    try {
      await expect(driver.launch(specOf(hostId))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('another installation'),
      });
      await driver.destroy(hostId);
      expect(await driver.list()).toEqual([]);
      expect(await docker('inspect', '--format', '{{.State.Status}}', name)).toBe('created');
    } finally {
      await docker('rm', '--force', name);
    }
  });

  it('reports why a missing image cannot be pulled, and leaves nothing behind', async () => {
    const missing = 'registry.invalid/no/such:image';
    const reason = {
      code: 'unavailable',
      message: expect.stringMatching(
        /^the image registry\.invalid\/no\/such:image .+cannot be pulled: /,
      ),
    };
    const spec = specOf(newId('hst'), { image: missing });
    await expect(driver.launch(spec)).rejects.toMatchObject(reason);
    const named = await driverOf(runtimes.docker, installation, controlUrl, missing);
    await expect(prepareQuietly(named)).rejects.toMatchObject(reason);
    expect(await driver.list()).toEqual([]);
  });

  it('refuses an isolation that the engine does not support', async () => {
    const refused = driver.launch(specOf(newId('hst'), { isolation: 'kata' }));
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('not "kata"'),
    });
  });

  it('lists a host of which only a container of its egress policy is left, and removes it', async () => {
    const hostId = newId('hst');
    const labels = [`svc.installation=${installation}`, 'svc.pool=default', 'svc.role=fence'];
    const words = [...labels, `svc.host=${hostId}`].flatMap((label) => ['--label', label]);
    await docker('create', '--name', `svc-${hostId}-fence-left`, ...words, image);
    expect(await driver.list()).toMatchObject([{ hostId, phase: 'exited' }]);
    await driver.destroy(hostId);
    expect(await runtimes.docker.leftovers(installation)).toHaveLength(1); // the network
  });

  it('removes a leftover container of the egress policy of a running host', async () => {
    const hostId = await launch();
    const labels = [`svc.installation=${installation}`, 'svc.pool=default', 'svc.role=fence'];
    const words = [...labels, `svc.host=${hostId}`].flatMap((label) => ['--label', label]);
    const name = `svc-${hostId}-fence-left`;
    await docker('create', '--name', name, ...words, image);
    expect(await driver.list()).toMatchObject([{ hostId, phase: 'running' }]);
    expect(await docker('ps', '--all', '--quiet', '--filter', `name=${name}`)).toBe('');
  });

  it('limits the resources of a host', async () => {
    const hostId = await launch();
    const config = JSON.parse(
      await docker('inspect', '--format', '{{json .HostConfig}}', `svc-${hostId}`),
    );
    expect(config).toMatchObject({
      Memory: 512 * 2 ** 20,
      MemorySwap: 512 * 2 ** 20,
      CpuQuota: config.CpuPeriod,
      PidsLimit: 128,
      ReadonlyRootfs: true,
      LogConfig: { Config: { 'max-size': '1m', 'max-file': '1' } },
      RestartPolicy: { Name: 'no' },
    });
    const limits = await docker('exec', `svc-${hostId}`, 'sh', '-c', 'ulimit -n; ulimit -c');
    expect(limits.split('\n')).toEqual(['16384', '0']);
  });
});

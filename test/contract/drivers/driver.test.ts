/** Tests the contract of every container runtime: the same cases for each, with real world hosts. */
import pMap from 'p-map';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { usualIsolation } from '#domain/pool.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import type { Container, Driver } from '../../../orchestrator/driver/driver.ts';
import { type HostApi, startHostApi } from '../../support/orchestrator/host-api.ts';
import {
  findTestCluster,
  kubernetesRuntime,
  testNamespace,
} from '../../support/orchestrator/kubernetes.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import {
  driverOf,
  type LaunchedHost,
  newInstallation,
  prepareQuietly,
  type Runtime,
  runtimes,
  sandboxWorks,
} from '../../support/orchestrator/runtimes.ts';
import { dockerAnswers } from '../../support/programs/prepare-docker.ts';
import { runtimesOfTier } from '../../support/run/tier.ts';

const startMs = 20_000;
const manyMs = 120_000;
const many = 30;
/** Number of concurrent steps: as many as the orchestrator runs at once. */
const atOnce = 8;

const all = ['process', 'bubblewrap', 'docker', 'kubernetes'] as const;
const names = runtimesOfTier(all);
const cluster: Awaited<ReturnType<typeof findTestCluster>> = names.includes('kubernetes')
  ? await findTestCluster()
  : { missing: 'its tier is the full one' };
const namespace = 'missing' in cluster ? undefined : await testNamespace(cluster.cluster);
afterAll(async () => namespace?.remove());

const runtimeOf = (name: (typeof all)[number]): Runtime => {
  if (name !== 'kubernetes') return runtimes[name];
  if ('missing' in cluster) throw new Error(cluster.missing);
  return kubernetesRuntime(cluster, namespace?.name ?? '');
};

/** Reasons why a runtime cannot be tested on this machine, by runtime; a runtime that can be tested has no entry. */
const missing: Partial<Record<(typeof all)[number], string>> = {
  ...((await dockerAnswers()) ? {} : { docker: 'no Docker engine answers' }),
  ...((await sandboxWorks()) ? {} : { bubblewrap: 'bubblewrap does not work here' }),
  ...('missing' in cluster ? { kubernetes: cluster.missing } : {}),
};
for (const name of names.filter((each) => missing[each] !== undefined)) {
  console.info(`${name} is not tested: ${missing[name]}`);
}

describe.each(names)('%s driver', (name) => {
  describe.skipIf(missing[name] !== undefined)('with real hosts', () => {
    const installation = newInstallation();
    let runtime: Runtime;
    let shape: PoolConfig;
    let control: HostApi;
    let controlUrl: string;
    let image: string | null;
    let driver: Driver;

    beforeAll(async () => {
      runtime = runtimeOf(name);
      shape = testPool({ isolation: usualIsolation(runtime.config.runtime) });
      const first = await driverOf(runtime, installation, 'http://127.0.0.1:1');
      const { listen, host, ...prepared } = await prepareQuietly(first);
      control = await startHostApi(['127.0.0.1', ...(listen === null ? [] : [listen])]);
      controlUrl = `http://${host}:${control.port}`;
      image = prepared.image;
      driver = await driverOf(runtime, installation, controlUrl, image);
    }, 300_000);

    afterEach(async () => {
      for (const { hostId } of await driver.list()) await driver.destroy(hostId);
    });

    afterAll(async () => {
      await driver.dismantle();
      await control.close();
      let left: string[] = [];
      await until(
        async () => {
          left = await runtime.leftovers(installation);
          return left.length === 0;
        },
        { timeoutMs: startMs, everyMs: 250, what: 'nothing left of the installation' },
      ).catch(() => expect(left).toEqual([]));
    });

    const specOf = (hostId: string) => ({
      hostId,
      generation: 0,
      token: new Secret('token'),
      shape,
    });

    const launch = async (): Promise<LaunchedHost> => {
      const hostId = newId('hst');
      return { hostId, ...(await driver.launch(specOf(hostId))) };
    };

    const isWarm = (hostId: string) =>
      until(() => control.warm.has(hostId), { timeoutMs: startMs, what: `${hostId} warm` });

    const isListedAs = (hostId: string, phase: Container['phase']) =>
      until(
        async () => {
          const found = (await driver.list()).find((container) => container.hostId === hostId);
          return found?.phase === phase ? found : undefined;
        },
        { timeoutMs: startMs, what: `${hostId} listed as ${phase}` },
      );

    const hasEnded = (hostId: string) => isListedAs(hostId, 'exited');

    /** Waits until a host is listed as running, which takes time only on a runtime that schedules. */
    const isRunning = (hostId: string) => isListedAs(hostId, 'running');

    it('launches a host that reports warm and answers at its address', async () => {
      const { hostId, address } = await launch();
      await isWarm(hostId);
      const known = address ?? control.warm.get(hostId) ?? '';
      expect(known).toMatch(/^http:\/\/\d+\.\d+\.\d+\.\d+:\d+$/);
      const isOnLoopback = known.startsWith('http://127.0.0.1:');
      expect(isOnLoopback).toBe(driver.addressing !== 'own_ip');
      const response = await fetch(known);
      expect(response.status).toBeGreaterThanOrEqual(200);
      await isRunning(hostId);
      const [listed, ...others] = await driver.list();
      expect(others).toEqual([]);
      expect(listed).toMatchObject({ hostId, phase: 'running', digest: driver.digestOf(shape) });
      // A runtime that lists addresses lists the one that the launch returned.
      expect([address, undefined]).toContain(listed?.address);
    });

    it('gives a host its token without exposing it in the description of the container', async () => {
      const token = `of-${newId('hst')}`;
      const hostId = newId('hst');
      const launched = await driver.launch({ ...specOf(hostId), token: new Secret(token) });
      await isWarm(hostId);
      const shownTokens = [`Bearer ${token}`, `Bearer working-${hostId}`];
      await until(() => control.tokens.get(hostId)?.length === 2, {
        timeoutMs: startMs,
        what: 'the token that it was given in place of that',
      });
      expect(control.tokens.get(hostId)).toEqual(shownTokens);
      const shown = await runtime.inspect({ hostId, ...launched });
      expect(shown).toContain(hostId);
      expect(shown).not.toContain(token);
    });

    it('creates one container per host, even when the host is launched twice', async () => {
      const hostId = newId('hst');
      const first = await driver.launch(specOf(hostId));
      const again = await driver.launch(specOf(hostId));
      expect(again).toEqual(first);
      expect(await driver.list()).toHaveLength(1);
    });

    it('detects a kill, and keeps the last output until the host is destroyed', async () => {
      let changes = 0;
      const watch = driver.watch(() => {
        changes += 1;
      });
      const host = await launch();
      await isWarm(host.hostId);
      await until(async () => (await driver.logs(host.hostId)).includes(host.hostId), {
        timeoutMs: 30_000,
        what: 'output of the host',
      });
      await until(() => changes > 0 || name !== 'docker', { timeoutMs: 30_000, what: 'watching' });
      const before = changes;
      await runtime.kill(host);
      await until(() => changes > before, { timeoutMs: 30_000, what: 'a notice of the kill' });
      await watch.stop();
      const ended = await hasEnded(host.hostId);
      expect(ended.exit).toMatchObject({ reason: 'exited' });
      expect(await driver.logs(host.hostId)).toContain(host.hostId);
      await driver.destroy(host.hostId);
      expect(await driver.list()).toEqual([]);
      expect(await driver.logs(host.hostId)).toBe('');
    });

    it('returns the output of a host that exited by itself', async () => {
      const hostId = newId('hst');
      control.refused.add(hostId);
      await driver.launch(specOf(hostId));
      const ended = await hasEnded(hostId);
      expect(ended.exit).toMatchObject({ detail: expect.stringContaining('exit status') });
      expect(await driver.logs(hostId)).not.toBe('');
    });

    it('destroys a host that is already destroyed or never existed without an error', async () => {
      const { hostId } = await launch();
      await driver.destroy(hostId);
      await driver.destroy(hostId);
      await driver.destroy(newId('hst'));
      expect(await driver.list()).toEqual([]);
    });

    it('never touches a host of another installation', async () => {
      const { hostId } = await launch();
      await isRunning(hostId);
      const stranger = await driverOf(runtime, newInstallation(), controlUrl, image);
      expect(await stranger.list()).toEqual([]);
      await stranger.destroy(hostId);
      expect(await stranger.logs(hostId)).toBe('');
      await expect(stranger.adopt(hostId)).rejects.toMatchObject({ code: 'not_found' });
      expect(await driver.list()).toMatchObject([{ hostId, phase: 'running' }]);
    });

    it('finds and adopts hosts of a previous driver', async () => {
      const { hostId, ...launched } = await launch();
      await isRunning(hostId);
      const successor = await driverOf(runtime, installation, controlUrl, image);
      expect(await successor.list()).toMatchObject([{ hostId, phase: 'running' }]);
      expect(await successor.adopt(hostId)).toEqual(launched);
      await successor.destroy(hostId);
      expect(await driver.list()).toEqual([]);
    });

    it('has one digest for equal shapes and another for a different shape', async () => {
      const { hostId } = await launch();
      const digest = driver.digestOf(shape);
      expect(await driver.list()).toMatchObject([{ hostId, digest }]);
      const successor = await driverOf(runtime, installation, controlUrl, image);
      expect(successor.digestOf(structuredClone(shape))).toBe(digest);
      expect(successor.digestOf({ ...shape, pool: 'another' })).toBe(digest);
      const larger = { ...shape.size, memoryMb: shape.size.memoryMb * 2 };
      expect(successor.digestOf({ ...shape, size: larger })).not.toBe(digest);
    });

    it('labels a container with installation, pool, host and digest, but not with the token', async () => {
      const host = await launch();
      const labels = await runtime.labels(host);
      for (const value of [installation, shape.pool, host.hostId, driver.digestOf(shape)]) {
        expect(labels).toContain(value);
      }
      expect(labels).not.toContain('token');
    });

    it('distinguishes an unfinished launch from a host that ended, and removes it', async () => {
      const hostId = newId('hst');
      const owner = { installation, pool: shape.pool, hostId, digest: driver.digestOf(shape) };
      await runtime.halfLaunch(owner, image);
      expect(await driver.list()).toMatchObject([{ hostId, phase: 'created' }]);
      await expect(driver.adopt(hostId)).rejects.toMatchObject({ code: 'not_found' });
      expect(await driver.logs(hostId)).toBe('');
      await driver.destroy(hostId);
      expect(await driver.list()).toEqual([]);
    });

    it(
      'launches and destroys many hosts at once',
      async () => {
        const hostIds = Array.from({ length: many }, () => newId('hst'));
        await pMap(hostIds, (hostId) => driver.launch(specOf(hostId)), { concurrency: atOnce });
        const listed = await driver.list();
        expect(listed.map(({ hostId }) => hostId).sort()).toEqual(hostIds.sort());
        await pMap(hostIds, (hostId) => driver.destroy(hostId), { concurrency: atOnce });
        expect(await driver.list()).toEqual([]);
      },
      manyMs,
    );

    it('refuses to adopt a host that is not running', async () => {
      await expect(driver.adopt(newId('hst'))).rejects.toMatchObject({ code: 'not_found' });
    });
  });
});

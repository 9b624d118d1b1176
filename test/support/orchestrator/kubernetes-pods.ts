/**
 * World hosts as pods in a namespace of a test file's own: a driver, the control plane that they report to, and
 * helpers for single pods. Each test leaves no pod behind, each file nothing at all.
 */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { newId } from '#domain/id.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import type { Container, Driver } from '../../../orchestrator/driver/driver.ts';
import type { KubernetesConfig } from '../../../orchestrator/driver/kubernetes/kubernetes-config.ts';
import { containerName } from '../../../orchestrator/driver/labels.ts';
import { openDriver } from '../../../orchestrator/driver/open/open-driver.ts';
import { type HostApi, startHostApi } from './host-api.ts';
import { configOf, type TestCluster, type TestNamespace, testNamespace } from './kubernetes.ts';
import { testPool } from './pools.ts';
import { newInstallation, prepareQuietly } from './runtimes.ts';

/** Time that a test waits for the cluster, in milliseconds. */
export const clusterWaitMs = 30_000;

/** Sets up pods for the tests of a `describe`. The returned object is usable from the first test on. */
export const usePods = (test: TestCluster) => {
  const { cluster } = test;
  const installation = newInstallation();
  const token = 'the-token-of-a-host';
  let home: TestNamespace;
  let control: HostApi;
  let controlUrl = 'http://192.0.2.1:80';
  let driver: Driver;

  /** Opens a driver for another installation, or with other settings than the test's own. */
  const open = (changes: Partial<KubernetesConfig> = {}, of = installation): Promise<Driver> =>
    openDriver(
      { ...configOf(test, home.name), ...changes },
      {
        installation: of,
        host: { controlUrl, logLevel: 'info' },
        log: createLog('orchestrator', 'silent'),
      },
    );

  beforeAll(async () => {
    home = await testNamespace(cluster);
    const { listen, host } = await prepareQuietly(await open());
    control = await startHostApi(['127.0.0.1', ...(listen === null ? [] : [listen])]);
    controlUrl = `http://${host}:${control.port}`;
    driver = await open();
  }, 120_000);

  afterEach(async () => {
    for (const { hostId } of await driver.list()) await driver.destroy(hostId);
  });

  afterAll(async () => {
    await driver.dismantle();
    await home.remove();
    await control.close();
  });

  return {
    cluster,
    installation,
    token,
    open,
    namespace: () => home.name,
    controlUrl: () => controlUrl,
    driver: () => driver,
    async launch(changes: Partial<PoolConfig> = {}, by = driver): Promise<string> {
      const hostId = newId('hst');
      const shape = testPool({ isolation: 'container', ...changes });
      await by.launch({ hostId, generation: 0, token: new Secret(token), shape });
      return hostId;
    },
    isWarm: (hostId: string) =>
      until(() => control.warm.has(hostId), { timeoutMs: clusterWaitMs, what: `${hostId} warm` }),
    /** Resolves with the container of a host as soon as `accepts` returns true for it. */
    becomes: (hostId: string, accepts: (container: Container) => boolean) =>
      until(
        async () => {
          const one = (await driver.list()).find((container) => container.hostId === hostId);
          return one !== undefined && accepts(one) ? one : undefined;
        },
        { timeoutMs: clusterWaitMs, everyMs: 100, what: `${hostId} as awaited` },
      ),
    podOf: (hostId: string) =>
      cluster.core.readNamespacedPod({ name: containerName(hostId), namespace: home.name }),
  };
};

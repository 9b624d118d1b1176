/**
 * What is of Kubernetes alone, on a real cluster: pods that cannot run and why, nodes of a tier, what
 * stands around pods, and the rights that the orchestrator needs and no more.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import type { Container, Driver, Wanted } from '../../orchestrator/driver/driver.ts';
import { needs } from '../../orchestrator/driver/kubernetes/access.ts';
import type { KubernetesConfig } from '../../orchestrator/driver/kubernetes/kubernetes-config.ts';
import { containerName } from '../../orchestrator/driver/labels.ts';
import { openDriver } from '../../orchestrator/driver/open-driver.ts';
import type { PoolConfig } from '../../orchestrator/pools/pool-config.ts';
import { type HostApi, startHostApi } from '../support/host-api.ts';
import {
  configOf,
  execIn,
  findTestCluster,
  leftoversIn,
  type TestCluster,
  type TestNamespace,
  testNamespace,
} from '../support/kubernetes.ts';
import { testPool } from '../support/pools.ts';
import { newInstallation, prepareQuietly } from '../support/runtimes.ts';

const found = await findTestCluster();
if ('missing' in found) console.info(`pods are not tested: ${found.missing}`);

const waitMs = 30_000;
const token = 'the-token-of-a-host';

describe.skipIf('missing' in found)('a pod of a world host', () => {
  const test = found as TestCluster;
  const { cluster } = test;
  const installation = newInstallation();
  let home: TestNamespace;
  let namespace: string;
  let control: HostApi;
  let controlUrl: string;
  let driver: Driver;

  const open = (changes: Partial<KubernetesConfig> = {}): Promise<Driver> =>
    openDriver(
      { ...configOf(test, namespace), ...changes },
      {
        installation,
        host: { controlUrl, logLevel: 'info' },
        log: createLog('orchestrator', 'silent'),
      },
    );

  beforeAll(async () => {
    home = await testNamespace(cluster);
    namespace = home.name;
    controlUrl = 'http://192.0.2.1:80';
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

  const launch = async (
    changes: Partial<PoolConfig> = {},
    by: Driver = driver,
  ): Promise<string> => {
    const hostId = newId('hst');
    const shape = testPool({ isolation: 'container', ...changes });
    await by.launch({ hostId, generation: 0, token: new Secret(token), shape });
    return hostId;
  };

  const isWarm = (hostId: string) =>
    until(() => control.warm.has(hostId), { timeoutMs: waitMs, what: `${hostId} warm` });

  const becomes = (hostId: string, accepts: (container: Container) => boolean) =>
    until(
      async () => {
        const one = (await driver.list()).find((container) => container.hostId === hostId);
        return one !== undefined && accepts(one) ? one : undefined;
      },
      { timeoutMs: waitMs, everyMs: 100, what: `${hostId} as awaited` },
    );

  const podOf = (hostId: string) =>
    cluster.core.readNamespacedPod({ name: containerName(hostId), namespace });

  it('says in words of the scheduler why there is no room', async () => {
    const hostId = await launch({ kubernetes: { nodeSelector: { 'svc.test/none': 'yes' } } });
    const { phase, trouble } = await becomes(hostId, (one) => one.trouble !== undefined);
    expect(phase).toBe('pending');
    expect(trouble).toMatchObject({ kind: 'unschedulable' });
    expect(trouble?.message).toMatch(/nodes are available.*didn't match/);
  });

  it('says that an image cannot be had', async () => {
    const hostId = await launch({ image: 'localhost:1/svc/none:1' });
    const { trouble } = await becomes(hostId, (one) => one.trouble !== undefined);
    expect(trouble).toMatchObject({ kind: 'image' });
    expect(trouble?.message).toContain('localhost:1/svc/none:1');
  });

  it('says why the cluster will not have a pod', async () => {
    const refused = launch({ kubernetes: { runtimeClassName: 'none' } });
    await expect(refused).rejects.toThrow(/creating pod .*RuntimeClass.*none/);
    expect(await driver.list()).toEqual([]);
  });

  it('keeps the token out of the pod, in a secret that the pod owns', async () => {
    const hostId = await launch();
    const pod = await podOf(hostId);
    expect(JSON.stringify(pod)).not.toContain(token);
    const name = containerName(hostId);
    const secret = await cluster.core.readNamespacedSecret({ name, namespace });
    expect(secret).toMatchObject({
      immutable: true,
      data: { token: Buffer.from(token).toString('base64') },
      metadata: { ownerReferences: [{ kind: 'Pod', name, uid: pod.metadata?.uid }] },
    });
  });

  it('runs as nobody in particular, with nothing to write to but its scratch space', async () => {
    const hostId = await launch();
    await isWarm(hostId);
    const inside = (script: string) =>
      execIn(cluster, namespace, containerName(hostId), 'sh', '-c', script);
    expect(await inside('id -u; grep CapBnd /proc/self/status')).toMatch(/^10001\n\S+\s+0+\s*$/);
    expect(await inside('touch /opt/svc/x 2>&1; touch /tmp/x && echo fine')).toMatch(
      /Read-only.*\nfine/,
    );
    const secrets = '/var/run/secrets/kubernetes.io';
    expect(await inside(`ls ${secrets} 2>&1 || true`)).toMatch(/No such file/);
  });

  it('has its policy before it is made', async () => {
    await launch();
    const name = `svc-${installation}-hosts`;
    const policy = await cluster.networking.readNamespacedNetworkPolicy({ name, namespace });
    const { hostname, port } = new URL(controlUrl);
    const peer = { ipBlock: { cidr: `${hostname}/32` } };
    expect(policy.spec).toEqual({
      podSelector: { matchLabels: { 'svc.installation': installation } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ _from: [peer], ports: [{ protocol: 'TCP', port: 8080 }] }],
      egress: [{ to: [peer], ports: [{ protocol: 'TCP', port: Number(port) }] }],
    });
  });

  describe('with nodes of tiers', () => {
    const nodes = { spot: `spot-${newId('hst')}`, demand: `demand-${newId('hst')}` };
    const taint = { key: 'svc.test/tier', value: 'spot', effect: 'NoSchedule' };

    /** A node without a machine: pods are bound to it and stay pending. */
    const addNode = async (name: string, tier: string, taints: object[]): Promise<void> => {
      const body = {
        metadata: { name, labels: { 'svc.test/tier': tier } },
        spec: { taints: taints as [] },
      };
      await cluster.core.createNode({ body });
      const status = {
        capacity: { cpu: '4', memory: '8Gi', pods: '20', 'ephemeral-storage': '10Gi' },
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Test',
            message: 'a node of a test',
            lastHeartbeatTime: new Date(),
            lastTransitionTime: new Date(),
          },
        ],
      };
      const merging = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
      await cluster.core.patchNodeStatus({ name, body: { status } }, merging);
    };

    beforeAll(async () => {
      await addNode(nodes.spot, 'spot', [taint]);
      await addNode(nodes.demand, 'demand', []);
    });

    afterAll(async () => {
      for (const name of Object.values(nodes)) await cluster.core.deleteNode({ name });
    });

    const isBound = (hostId: string) =>
      until(async () => (await podOf(hostId)).spec?.nodeName, {
        timeoutMs: waitMs,
        everyMs: 100,
        what: `${hostId} on a node`,
      });

    it('puts pools on the nodes of their tier, and says when a taint keeps them away', async () => {
      const selecting = (tier: string) => ({ nodeSelector: { 'svc.test/tier': tier } });
      const spot = { ...selecting('spot'), tolerations: [{ ...taint, operator: 'Equal' }] };
      const cheap = await launch({ tier: 'standard', kubernetes: spot });
      const dear = await launch({ tier: 'premium', kubernetes: selecting('demand') });
      expect(await isBound(cheap)).toBe(nodes.spot);
      expect(await isBound(dear)).toBe(nodes.demand);
      const kept = await launch({ tier: 'standard', kubernetes: selecting('spot') });
      const { trouble } = await becomes(kept, (one) => one.trouble !== undefined);
      expect(trouble?.message).toMatch(/untolerated taint/);
      // Nobody is there to end them.
      for (const hostId of [cheap, dear]) {
        const body = { gracePeriodSeconds: 0 };
        await cluster.core.deleteNamespacedPod({ name: containerName(hostId), namespace, body });
      }
    });
  });

  it('lets nobody evict a premium host that serves, until it is done', async () => {
    const notices: string[] = [];
    const hear = async (): Promise<void> => {
      const listed = await driver.list().catch(() => []);
      notices.push(...listed.flatMap(({ reclaimed }) => reclaimed?.why ?? []));
    };
    const watch = driver.watch(hear);
    try {
      const shape = testPool({ isolation: 'container', tier: 'premium' });
      const hostId = await launch({ tier: 'premium' });
      await isWarm(hostId);
      const name = containerName(hostId);
      const evict = () =>
        cluster.core.createNamespacedPodEviction({
          name,
          namespace,
          body: { metadata: { name, namespace } },
        });
      const isProtected = async (wanted: Wanted, annotation: string): Promise<void> => {
        driver.arrange?.(wanted);
        const key = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
        const isSet = async () => (await podOf(hostId)).metadata?.annotations?.[key] === annotation;
        await until(isSet, {
          timeoutMs: waitMs,
          everyMs: 100,
          what: `safe-to-evict ${annotation}`,
        });
      };
      const shapes = [shape];
      await isProtected({ shapes, serving: new Set([hostId]) }, 'false');
      await until(
        async () => {
          const budget = `svc-${installation}-serving`;
          const one = { name: budget, namespace };
          const { status } = await cluster.policy.readNamespacedPodDisruptionBudget(one);
          return status?.currentHealthy === 1;
        },
        { timeoutMs: waitMs, everyMs: 100, what: 'the budget counts the pod' },
      );
      await expect(evict()).rejects.toMatchObject({ code: 429 });
      await isProtected({ shapes, serving: new Set() }, 'true');
      await until(
        () =>
          evict().then(
            () => true,
            () => false,
          ),
        { timeoutMs: waitMs, everyMs: 200, what: 'the eviction' },
      );
      // The host ends so soon that only its watch hears of it.
      await until(() => notices.length > 0, { timeoutMs: waitMs, what: 'the notice' });
      expect(notices[0]).toMatch(/EvictionByEvictionAPI|being deleted/);
    } finally {
      await watch.stop();
    }
  });

  it('keeps images on nodes while a pool wants them', async () => {
    const pulling = await open({ prePull: true });
    const watch = pulling.watch(() => undefined);
    const sets = async () => (await cluster.apps.listNamespacedDaemonSet({ namespace })).items;
    try {
      pulling.arrange?.({ shapes: [testPool({ isolation: 'container' })], serving: new Set() });
      await until(async () => (await sets())[0]?.status?.numberReady === 1, {
        timeoutMs: waitMs,
        everyMs: 100,
        what: 'the image on the node',
      });
      pulling.arrange?.({ shapes: [], serving: new Set() });
      await until(async () => (await sets()).length === 0, {
        timeoutMs: waitMs,
        everyMs: 100,
        what: 'no image wanted any more',
      });
    } finally {
      await watch.stop();
    }
  });

  it('makes a namespace of its own that admits restricted pods only, and removes it', async () => {
    const own = newInstallation();
    const alone = await openDriver(configOf(test), {
      installation: own,
      host: { controlUrl, logLevel: 'info' },
      log: createLog('orchestrator', 'silent'),
    });
    await prepareQuietly(alone);
    const { metadata } = await cluster.core.readNamespace({ name: `svc-${own}` });
    expect(metadata?.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    await launch({}, alone);
    for (const { hostId } of await alone.list()) await alone.destroy(hostId);
    await alone.dismantle();
    const isGone = async () => (await leftoversIn(cluster, own)).length === 0;
    await until(isGone, { timeoutMs: waitMs, everyMs: 250, what: 'nothing left of it' });
  });

  it('refuses a namespace that somebody else has to make', async () => {
    const lost = await open({ namespace: 'svc-test-none' });
    await expect(prepareQuietly(lost)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('svc-test-none does not exist'),
    });
  });

  describe('as an account with rights of its own', () => {
    const account = 'orchestrator';
    let folder: string;
    let limited: Driver;

    const grant = (resources: typeof needs) =>
      cluster.objects.patch(
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: account, namespace },
          rules: resources.map(({ group, resource, subresource, verbs }) => ({
            apiGroups: [group],
            resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
            verbs,
          })),
        } as object,
        undefined,
        undefined,
        'test',
        true,
        PatchStrategy.ServerSideApply,
      );

    beforeAll(async () => {
      await cluster.core.createNamespacedServiceAccount({
        namespace,
        body: { metadata: { name: account } },
      });
      await grant([]);
      await cluster.objects.create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: account, namespace },
        subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
      } as object);
      const { status } = await cluster.core.createNamespacedServiceAccountToken({
        name: account,
        namespace,
        body: { spec: { audiences: [] } },
      });
      const { config } = cluster;
      const named = config.getCurrentCluster();
      folder = await mkdtemp(join(tmpdir(), 'svc-test-kube-'));
      const kubeconfig = join(folder, 'kubeconfig');
      const contents = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [
          {
            name: 'test',
            cluster: {
              server: named?.server,
              'certificate-authority': named?.caFile,
              'certificate-authority-data': named?.caData,
            },
          },
        ],
        users: [{ name: account, user: { token: status?.token } }],
        contexts: [{ name: 'test', context: { cluster: 'test', user: account } }],
        'current-context': 'test',
      };
      await writeFile(kubeconfig, JSON.stringify(contents), { mode: 0o600 });
      limited = await open({ kubeconfig, hostAddress: new URL(controlUrl).hostname });
    });

    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('names every right that is missing', async () => {
      await expect(prepareQuietly(limited)).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringMatching(
          /not allowed in namespace .*get, list, watch, create, delete, patch pods; get pods\/log; .*daemonsets\.apps/,
        ),
      });
    });

    it('needs no more than what it asks for', async () => {
      await grant(needs);
      await until(
        () =>
          prepareQuietly(limited).then(
            () => true,
            () => false,
          ),
        { timeoutMs: waitMs, everyMs: 200, what: 'the rights in force' },
      );
      const watch = limited.watch(() => undefined);
      const hostId = await launch({}, limited);
      await isWarm(hostId);
      const hasWritten = async () => (await limited.logs(hostId)).includes(hostId);
      await until(hasWritten, { timeoutMs: waitMs, everyMs: 100, what: 'output of the host' });
      await limited.destroy(hostId);
      expect(await limited.list()).toEqual([]);
      await watch.stop();
    });
  });
});

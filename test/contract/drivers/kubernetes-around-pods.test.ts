/**
 * Tests objects around the pods on a real cluster: the disruption budget that protects serving hosts, and images pulled
 * to nodes.
 */
import { describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import type { Wanted } from '../../../orchestrator/driver/driver.ts';
import { containerName, labelNames } from '../../../orchestrator/driver/labels.ts';
import {
  findTestCluster,
  leftoversIn,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';
import { clusterWaitMs, usePods } from '../../support/orchestrator/kubernetes-pods.ts';
import { testPool } from '../../support/orchestrator/pools.ts';

const found = await findTestCluster();
if ('missing' in found) console.info(`what stands around pods is not tested: ${found.missing}`);

describe.skipIf('missing' in found)('the objects around the pods of hosts', () => {
  const pods = usePods(found as TestCluster);
  const { cluster, launch, isWarm, podOf } = pods;

  it('protect a serving premium host from eviction until it is done', async () => {
    const driver = pods.driver();
    const namespace = pods.namespace();
    const notifications: string[] = [];
    const hear = async (): Promise<void> => {
      const listed = await driver.list().catch(() => []);
      notifications.push(...listed.flatMap(({ reclaimed }) => reclaimed?.why ?? []));
    };
    const watch = driver.watch(hear);
    try {
      const shape = testPool({ isolation: 'container', tier: 'premium' });
      const hostId = await launch({ tier: 'premium' });
      await isWarm(hostId);
      const [owner] = (await podOf(hostId)).metadata?.ownerReferences ?? [];
      expect(owner).toMatchObject({ kind: 'Namespace', name: namespace, controller: true });
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
          timeoutMs: clusterWaitMs,
          everyMs: 100,
          what: `safe-to-evict ${annotation}`,
        });
      };
      const shapes = [shape];
      await isProtected(
        { shapes, serving: new Map([[hostId, { tier: 'premium', forMs: 0 }]]) },
        'false',
      );
      await until(
        async () => {
          const budget = `svc-${pods.installation}-serving`;
          const one = { name: budget, namespace };
          const { status } = await cluster.policy.readNamespacedPodDisruptionBudget(one);
          return status?.currentHealthy === 1;
        },
        { timeoutMs: clusterWaitMs, everyMs: 100, what: 'the budget counts the pod' },
      );
      await expect(evict()).rejects.toMatchObject({ code: 429 });
      await isProtected({ shapes, serving: new Map() }, 'true');
      await until(
        () =>
          evict().then(
            () => true,
            () => false,
          ),
        { timeoutMs: clusterWaitMs, everyMs: 200, what: 'the eviction' },
      );
      // The host ends so quickly that only its watch reports the end.
      await until(() => notifications.length > 0, { timeoutMs: clusterWaitMs, what: 'the notice' });
      expect(notifications[0]).toMatch(/EvictionByEvictionAPI|being deleted/);
    } finally {
      await watch.stop();
    }
  });

  it('can be deleted without the loss of a host', async () => {
    const namespace = pods.namespace();
    const { core, networking } = cluster;
    const watch = pods.driver().watch(() => undefined);
    try {
      const shapes = [testPool({ isolation: 'container', tier: 'premium' })];
      pods.driver().arrange?.({ shapes, serving: new Map() });
      const hostId = await launch({ tier: 'premium' });
      await isWarm(hostId);
      const others = async () =>
        (await leftoversIn(cluster, pods.installation)).filter(
          (what) => !/^(Pod|Secret|Namespace)List /.test(what),
        );
      const isWhole = async () => (await others()).length === 2;
      const what = 'fence and budget';
      await until(isWhole, { timeoutMs: clusterWaitMs, everyMs: 100, what });
      // Once the garbage collector has removed this, it has also looked at what the deleted objects own.
      const name = `svc-${pods.installation}-hosts`;
      const { metadata } = await networking.readNamespacedNetworkPolicy({ name, namespace });
      const kind = 'NetworkPolicy';
      const owner = { apiVersion: 'networking.k8s.io/v1', kind, name, uid: metadata?.uid ?? '' };
      const body = { metadata: { name: 'canary', namespace, ownerReferences: [owner] } };
      await core.createNamespacedConfigMap({ namespace, body });
      const labelSelector = `${labelNames.installation}=${pods.installation}`;
      await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector });
      await cluster.policy.deleteCollectionNamespacedPodDisruptionBudget({
        namespace,
        labelSelector,
      });
      await networking.deleteCollectionNamespacedNetworkPolicy({ namespace, labelSelector });
      const isSwept = async () => {
        const { items } = await core.listNamespacedConfigMap({ namespace });
        return !items.some((one) => one.metadata?.name === 'canary');
      };
      const removal = 'the removal of what is owned';
      await until(isSwept, { timeoutMs: clusterWaitMs, everyMs: 100, what: removal });
      expect((await podOf(hostId)).metadata?.deletionTimestamp).toBeUndefined();
    } finally {
      await watch.stop();
    }
  });

  it('keep images on nodes while a pool needs them', async () => {
    const pulling = await pods.open({ prePull: true });
    const watch = pulling.watch(() => undefined);
    const namespace = pods.namespace();
    const sets = async () => (await cluster.apps.listNamespacedDaemonSet({ namespace })).items;
    try {
      pulling.arrange?.({ shapes: [testPool({ isolation: 'container' })], serving: new Map() });
      await until(async () => (await sets())[0]?.status?.numberReady === 1, {
        timeoutMs: clusterWaitMs,
        everyMs: 100,
        what: 'the image on the node',
      });
      pulling.arrange?.({ shapes: [], serving: new Map() });
      await until(async () => (await sets()).length === 0, {
        timeoutMs: clusterWaitMs,
        everyMs: 100,
        what: 'no image wanted any more',
      });
    } finally {
      await watch.stop();
    }
  });
});

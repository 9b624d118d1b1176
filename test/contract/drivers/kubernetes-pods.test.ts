/** Tests pods of world hosts on a real cluster: their limits, the reasons why one cannot run, and their nodes. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import { containerName } from '../../../orchestrator/driver/labels.ts';
import { keep } from '../../support/database/postgres.ts';
import {
  execIn,
  findTestCluster,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';
import { clusterWaitMs, usePods } from '../../support/orchestrator/kubernetes-pods.ts';

const found = await findTestCluster();
if ('missing' in found) console.info(`pods are not tested: ${found.missing}`);

describe.skipIf('missing' in found)('a pod of a world host', () => {
  // Pods of tests that run at the same time would land on the nodes that this test adds and removes.
  let letGo: () => Promise<void>;
  beforeAll(async () => {
    letGo = await keep('the cluster');
  });
  afterAll(() => letGo());

  const pods = usePods(found as TestCluster);
  const { cluster, token, launch, isWarm, becomes, podOf } = pods;

  it('reports the reason of the scheduler if it cannot be scheduled', async () => {
    const hostId = await launch({ kubernetes: { nodeSelector: { 'svc.test/none': 'yes' } } });
    const { phase, trouble } = await becomes(hostId, (one) => one.trouble !== undefined);
    expect(phase).toBe('pending');
    expect(trouble).toMatchObject({ kind: 'unschedulable' });
    expect(trouble?.message).toMatch(/nodes are available.*didn't match/);
  });

  it('reports that its image cannot be pulled', async () => {
    const hostId = await launch({ image: 'localhost:1/svc/none:1' });
    const { trouble } = await becomes(hostId, (one) => one.trouble !== undefined);
    expect(trouble).toMatchObject({ kind: 'image' });
    expect(trouble?.message).toContain('localhost:1/svc/none:1');
  });

  it('reports why the cluster refuses it', async () => {
    const refused = launch({ kubernetes: { runtimeClassName: 'none' } });
    await expect(refused).rejects.toThrow(/creating pod .*RuntimeClass.*none/);
    expect(await pods.driver().list()).toEqual([]);
  });

  it('keeps the token out of its spec, in a secret that the pod owns', async () => {
    const hostId = await launch();
    const pod = await podOf(hostId);
    expect(JSON.stringify(pod)).not.toContain(token);
    const name = containerName(hostId);
    const secret = await cluster.core.readNamespacedSecret({ name, namespace: pods.namespace() });
    expect(secret).toMatchObject({
      immutable: true,
      data: { token: Buffer.from(token).toString('base64') },
      metadata: { ownerReferences: [{ kind: 'Pod', name, uid: pod.metadata?.uid }] },
    });
  });

  it('runs as an unprivileged user that can write only to its scratch space', async () => {
    const hostId = await launch();
    await isWarm(hostId);
    const inside = (script: string) =>
      execIn(cluster, pods.namespace(), containerName(hostId), 'sh', '-c', script);
    expect(await inside('id -u; grep CapBnd /proc/self/status')).toMatch(/^10001\n\S+\s+0+\s*$/);
    expect(await inside('touch /opt/svc/x 2>&1; touch /tmp/x && echo fine')).toMatch(
      /Read-only.*\nfine/,
    );
    const secrets = '/var/run/secrets/kubernetes.io';
    expect(await inside(`ls ${secrets} 2>&1 || true`)).toMatch(/No such file/);
  });

  it('is limited to the control plane by a network policy from its start', async () => {
    await launch();
    const name = `svc-${pods.installation}-hosts`;
    const policy = await cluster.networking.readNamespacedNetworkPolicy({
      name,
      namespace: pods.namespace(),
    });
    const { hostname, port } = new URL(pods.controlUrl());
    const peer = { ipBlock: { cidr: `${hostname}/32` } };
    expect(policy.spec).toEqual({
      podSelector: { matchLabels: { 'svc.installation': pods.installation } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ _from: [peer], ports: [{ protocol: 'TCP', port: 8080 }] }],
      egress: [{ to: [peer], ports: [{ protocol: 'TCP', port: Number(port) }] }],
    });
  });

  describe('with nodes for tiers', () => {
    const nodes = { spot: `spot-${newId('hst')}`, demand: `demand-${newId('hst')}` };
    const taint = { key: 'svc.test/tier', value: 'spot', effect: 'NoSchedule' };

    /** Adds a node without a machine: pods are bound to it and stay pending. */
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
        timeoutMs: clusterWaitMs,
        everyMs: 100,
        what: `${hostId} on a node`,
      });

    it('is scheduled to a node for the tier of its pool, and reports a taint that prevents that', async () => {
      const selecting = (tier: string) => ({ nodeSelector: { 'svc.test/tier': tier } });
      const spot = { ...selecting('spot'), tolerations: [{ ...taint, operator: 'Equal' }] };
      const cheap = await launch({ tier: 'standard', kubernetes: spot });
      const dear = await launch({ tier: 'premium', kubernetes: selecting('demand') });
      expect(await isBound(cheap)).toBe(nodes.spot);
      expect(await isBound(dear)).toBe(nodes.demand);
      const kept = await launch({ tier: 'standard', kubernetes: selecting('spot') });
      const { trouble } = await becomes(kept, (one) => one.trouble !== undefined);
      expect(trouble?.message).toMatch(/untolerated taint/);
      // The added nodes run no kubelet that would end these pods.
      for (const hostId of [cheap, dear]) {
        const body = { gracePeriodSeconds: 0 };
        const pod = { name: containerName(hostId), namespace: pods.namespace() };
        await cluster.core.deleteNamespacedPod({ ...pod, body });
      }
    });
  });
});

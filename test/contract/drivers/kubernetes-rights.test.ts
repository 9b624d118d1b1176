/**
 * Tests namespaces and rights on a real cluster: the objects that the orchestrator creates, and the minimal rights it
 * needs.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PatchStrategy } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import type { Driver } from '../../../orchestrator/driver/driver.ts';
import { needs } from '../../../orchestrator/driver/kubernetes/access.ts';
import {
  findTestCluster,
  leftoversIn,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';
import { clusterWaitMs, usePods } from '../../support/orchestrator/kubernetes-pods.ts';
import { newInstallation, prepareQuietly } from '../../support/orchestrator/runtimes.ts';

const found = await findTestCluster();
if ('missing' in found) console.info(`rights in a cluster are not tested: ${found.missing}`);

describe.skipIf('missing' in found)('an orchestrator in a cluster', () => {
  const pods = usePods(found as TestCluster);
  const { cluster, open, launch, isWarm } = pods;

  it('creates and removes a namespace of its own that admits restricted pods only', async () => {
    const own = newInstallation();
    const alone = await open({ namespace: undefined }, own);
    await prepareQuietly(alone);
    const { metadata } = await cluster.core.readNamespace({ name: `svc-${own}` });
    expect(metadata?.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    await launch({}, alone);
    for (const { hostId } of await alone.list()) await alone.destroy(hostId);
    await alone.dismantle();
    const isGone = async () => (await leftoversIn(cluster, own)).length === 0;
    await until(isGone, { timeoutMs: clusterWaitMs, everyMs: 250, what: 'nothing left of it' });
  });

  it('refuses to start if its configured namespace is missing', async () => {
    const lost = await open({ namespace: 'svc-test-none' });
    await expect(prepareQuietly(lost)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('svc-test-none does not exist'),
    });
  });

  describe('with limited rights', () => {
    const account = 'orchestrator';
    let folder: string;
    let limited: Driver;

    const grant = (resources: typeof needs) =>
      cluster.objects.patch(
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: account, namespace: pods.namespace() },
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
        namespace: pods.namespace(),
        body: { metadata: { name: account } },
      });
      await grant([]);
      await cluster.objects.create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: account, namespace: pods.namespace() },
        subjects: [{ kind: 'ServiceAccount', name: account, namespace: pods.namespace() }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
      } as object);
      const { status } = await cluster.core.createNamespacedServiceAccountToken({
        name: account,
        namespace: pods.namespace(),
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
      limited = await open({ kubeconfig, hostAddress: new URL(pods.controlUrl()).hostname });
    });

    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('names every right that it lacks', async () => {
      await expect(prepareQuietly(limited)).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringMatching(
          /not allowed in namespace .*get, list, watch, create, delete, patch pods; get pods\/log; .*daemonsets\.apps/,
        ),
      });
    });

    it('needs no right beyond those that it checks for', async () => {
      await grant(needs);
      await until(
        () =>
          prepareQuietly(limited).then(
            () => true,
            () => false,
          ),
        { timeoutMs: clusterWaitMs, everyMs: 200, what: 'the rights in force' },
      );
      const watch = limited.watch(() => undefined);
      const hostId = await launch({}, limited);
      await isWarm(hostId);
      const hasWritten = async () => (await limited.logs(hostId)).includes(hostId);
      await until(hasWritten, {
        timeoutMs: clusterWaitMs,
        everyMs: 100,
        what: 'output of the host',
      });
      await limited.destroy(hostId);
      expect(await limited.list()).toEqual([]);
      await watch.stop();
    });
  });
});

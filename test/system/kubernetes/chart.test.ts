/**
 * Tests the Helm chart on the cluster that `KUBECONFIG` names. Every manifest of every variant is accepted. A fresh
 * installation passes its test, is used through its gateway from outside, is upgraded and rolled back under load
 * without a failed call, and leaves nothing after it is uninstalled.
 */
import { randomBytes } from 'node:crypto';
import type { KubernetesObject, V1Deployment } from '@kubernetes/client-node';
import { loadAllYaml, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import { isStatus } from '../../../orchestrator/driver/kubernetes/cluster.ts';
import { call, close, createNotes, open } from '../../support/control/sessions.ts';
import { askGateway, startGatewayLoad } from '../../support/gateway/gateway-load.ts';
import { foreignKinds, hasHelm, render, variants } from '../../support/orchestrator/chart.ts';
import {
  type ChartInstallation,
  prepareInstallation,
} from '../../support/orchestrator/chart-installation.ts';
import {
  findTestCluster,
  loadImages,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';
import { startLoad } from '../../support/programs/load.ts';
import { tier } from '../../support/run/tier.ts';

const found = (await hasHelm()) ? await findTestCluster() : { missing: 'there is no helm' };
const images = 'missing' in found ? undefined : await loadImages(found);
if ('missing' in found) console.info(`the chart is not installed: ${found.missing}`);
else if (images === undefined) {
  console.info(
    'the chart is not installed: its images need SVC_TEST_KUBE_LOAD and a Docker engine',
  );
}

/**
 * Settings of the installation: blobs are stored in the database with the rows that name them, and a job checks the
 * pools first. Only the backup tests use a volume for blobs.
 */
const settings = ['--set', 'blobs.inDatabase=true,hosts.checkPools=true'];
const clients = 2;
const issue = '/repos/northquay/berth/issues/157';

describe.skipIf('missing' in found)('the manifests', () => {
  const { cluster } = found as TestCluster;
  const namespace = `svc-test-${randomBytes(4).toString('hex')}`;
  const others = [`${namespace}-hosts`, 'worlds'];
  const namespaces = [namespace, ...others];
  const made: string[] = [];

  beforeAll(async () => {
    for (const name of namespaces) {
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      try {
        await cluster.core.createNamespace({ body: { metadata: { name, labels } } });
        made.push(name);
      } catch (error) {
        if (!isStatus(error, 409)) throw error;
      }
    }
  });
  afterAll(async () => {
    for (const name of made) await cluster.core.deleteNamespace({ name });
  });

  const tryOut = async (object: KubernetesObject): Promise<string> => {
    const { kind, metadata } = object;
    const inNamespace = kind === 'Namespace' ? {} : { namespace };
    const tried = { ...object, metadata: { ...inNamespace, ...metadata } };
    const strategy = PatchStrategy.ServerSideApply;
    try {
      await cluster.objects.patch(tried, undefined, 'All', 'chart-test', true, strategy);
      return '';
    } catch (error) {
      const said = describeError(error);
      const isUnknown = /^Failed to fetch resource metadata .* 404$/m.test(said);
      if (isUnknown && Object.hasOwn(foreignKinds, kind ?? '')) return '';
      return `${kind} ${metadata?.name}: ${said}`;
    }
  };

  it.each(variants)('for the values "$name" are accepted by the API server', async ({ args }) => {
    const refusals: string[] = [];
    for (const object of await render(namespace, args)) refusals.push(await tryOut(object));
    expect(refusals.filter(Boolean)).toEqual([]);
  });
});

describe.skipIf(images === undefined)('an installation', { timeout: 600_000 }, () => {
  const { cluster } = found as TestCluster;
  let core: TestCluster['cluster']['core'];
  let installation: ChartInstallation;
  let namespace: string;
  let client: Client;
  let gateway: string;

  /** Returns the names of the programs' pods, without terminating ones. */
  const podNames = async (): Promise<string[]> => {
    const labelSelector = 'app.kubernetes.io/name=svc';
    const { items } = await core.listNamespacedPod({ namespace, labelSelector });
    return items.flatMap(({ metadata }) => metadata?.name ?? []).sort();
  };

  /** Returns the uid of the database's pod; another one would have interrupted all requests. */
  const databasePod = async (): Promise<string | undefined> => {
    const { metadata } = await core.readNamespacedPod({ name: 'svc-postgres-0', namespace });
    return metadata?.uid;
  };

  const rolled = async (before: readonly string[]): Promise<void> => {
    const isOver = async () => {
      const names = await podNames();
      const old = before.filter((name) => !name.includes('-postgres-'));
      return names.length === before.length && old.every((name) => !names.includes(name));
    };
    await until(isOver, { timeoutMs: 90_000, everyMs: 500, what: 'every program replaced' });
  };

  beforeAll(async () => {
    ({ core } = cluster);
    installation = await prepareInstallation(cluster, images ?? []);
    ({ namespace } = installation);
    await installation.upgrade(...settings);
    client = await installation.client();
    gateway = await installation.serviceUrl('svc-gateway');
  }, 600_000);

  afterAll(() => installation.remove(), 120_000);

  it('passes its own test, which opens, uses and closes a session', async () => {
    await installation.helm('test', '--timeout', '120s');
  });

  it('serves a session to clients outside the cluster, and answers 410 when it is closed', async () => {
    const session = await open(client, { slug: 'helm-test', task: 'close-duplicate' });
    const { url = '', token = '' } = session.surfaces.api ?? {};
    expect(url).toBe(`http://${session.id}--api.worlds.test`);
    const asked = { gateway, surface: { url, token: String(token) }, path: issue };
    expect(await askGateway(asked)).toBe(200);
    expect(await call(client, session.id, { kind: 'grade' })).toMatchObject({
      state: 'succeeded',
      output: { passed: false },
    });
    expect(await close(client, session.id)).toMatchObject({ state: 'CLOSED' });
    await until(async () => (await askGateway(asked)) === 410, { timeoutMs: 5_000, what: 'a 410' });
  });

  it('keeps its pools when the file of pools is invalid, and the check job logs the mistake', async () => {
    const wrong = '[pools.default]\nminimum = 9\nmaximum = 3\n';
    const pools = ['--set-literal', `hosts.pools=${wrong}`];
    await expect(installation.upgrade(...settings, ...pools)).rejects.toThrow(
      'job svc-check-pools failed',
    );
    const labelSelector = 'batch.kubernetes.io/job-name=svc-check-pools';
    const { items } = await core.listNamespacedPod({ namespace, labelSelector });
    const name = items[0]?.metadata?.name ?? '';
    const log = await core.readNamespacedPodLog({ name, namespace });
    expect(log).toContain('pools.default.minimum: 9 is over the maximum of 3');
    const { data } = await core.readNamespacedConfigMap({ name: 'svc-pools', namespace });
    expect(data?.['pools.toml']).toContain('target = 3');
    await core.deleteNamespacedPod({ name, namespace });
  });

  const inFull = it.runIf(tier === 'full');

  inFull('restarts the programs that use a changed secret at the next upgrade', async () => {
    const sums = async (): Promise<Record<string, string | undefined>> => {
      const text = await installation.upgrade(...settings, '--dry-run=server', '--output', 'json');
      const { manifest } = JSON.parse(text) as { manifest: string };
      const objects = loadAllYaml(manifest) as V1Deployment[];
      return Object.fromEntries(
        objects.flatMap(({ kind, metadata, spec }) =>
          kind === 'Deployment'
            ? [[metadata?.name, spec?.template.metadata?.annotations?.['checksum/secret']]]
            : [],
        ),
      );
    };
    const before = await sums();
    const secret = { name: 'svc-secrets', namespace };
    const { data } = await core.readNamespacedSecret(secret);
    const body = { stringData: { 'gateway-token': 'another' } };
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    await core.patchNamespacedSecret({ ...secret, body }, merge);
    const after = await sums();
    await core.patchNamespacedSecret({ ...secret, body: { data } }, merge);
    const changed = Object.keys(before).filter((name) => before[name] !== after[name]);
    expect(changed.sort()).toEqual(['svc-control', 'svc-gateway']);
    expect(await sums()).toEqual(before);
  });

  inFull('is upgraded and rolled back under load without a failed call', async () => {
    await createNotes(client);
    const session = await open(client, { slug: 'helm-test', task: 'close-duplicate' });
    const { url = '', token = '' } = session.surfaces.api ?? {};
    const load = startLoad({ client, clients });
    const surface = { url, token: String(token) };
    const atGateway = startGatewayLoad({ gateway, surface, path: issue, clients });
    await load.beyond(clients);
    const database = await databasePod();
    for (const roll of [
      () =>
        installation.upgrade(
          ...settings,
          '--set',
          'pods.annotations.release=next',
          '--set',
          'postgres.settings.work_mem=8MB',
        ),
      () => installation.helm('rollback', '1', '--wait'),
    ]) {
      const before = await podNames();
      await roll();
      await rolled(before);
    }
    await load.beyond(clients);
    expect(await databasePod()).toBe(database);
    const [sessions, requests] = await Promise.all([load.stop(), atGateway.stop()]);
    expect([...sessions.failures, ...requests.failures]).toEqual([]);
    expect(requests.asked).toBeGreaterThan(100);
    expect(await close(client, session.id)).toMatchObject({ state: 'CLOSED' });
  });

  it('leaves nothing behind when it is uninstalled', async () => {
    await installation.helm('uninstall', '--wait', '--timeout', '120s');
    const left = async (): Promise<string[]> => {
      const lists = await Promise.all([
        core.listNamespacedPod({ namespace }),
        core.listNamespacedService({ namespace }),
        core.listNamespacedSecret({ namespace }),
        core.listNamespacedPersistentVolumeClaim({ namespace }),
        core.listNamespace({ fieldSelector: `metadata.name=${installation.hosts}` }),
      ]);
      return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata?.name ?? ''));
    };
    let last: string[] = [];
    const isClear = async () => {
      last = await left();
      return last.length === 0;
    };
    await until(isClear, { timeoutMs: 60_000, everyMs: 500, what: 'nothing left' }).catch(() =>
      expect(last).toEqual([]),
    );
  });
});

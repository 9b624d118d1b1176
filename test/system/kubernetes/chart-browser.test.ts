/**
 * Tests browsers of an installation of the Helm chart on the cluster that `KUBECONFIG` names. An agent solves a task in
 * the page of one browser; browsers that serve are not preempted by pending hosts of either tier.
 */
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { solveByBrowser } from '../../support/browser/solve-by-browser.ts';
import { call, close, open } from '../../support/control/sessions.ts';
import { hasHelm } from '../../support/orchestrator/chart.ts';
import {
  type ChartInstallation,
  prepareInstallation,
} from '../../support/orchestrator/chart-installation.ts';
import {
  findTestCluster,
  loadImages,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';

const found = (await hasHelm()) ? await findTestCluster() : { missing: 'there is no helm' };
const images = 'missing' in found ? undefined : await loadImages(found);
if ('missing' in found) console.info(`browsers of the chart are not tested: ${found.missing}`);
else if (images === undefined) {
  console.info(
    'browsers of the chart are not tested: its images need SVC_TEST_KUBE_LOAD and a Docker engine',
  );
}

const browsers = (tier: 'standard' | 'premium', target: number, cpuRequest?: string): string =>
  [
    `kind = "browser"\ntier = "${tier}"\nmaximum = 2\ntarget = ${target}`,
    'size = { memory_mb = 768, cpus = 4, pids = 300 }',
    ...(cpuRequest === undefined ? [] : [`kubernetes = { cpuRequest = "${cpuRequest}" }`]),
  ].join('\n');

const pools = {
  worlds: 'maximum = 4\ntarget = 2',
  steady: browsers('premium', 1),
  spot: browsers('standard', 1),
};

const poolsOf = (tables: Record<string, string>): string[] => {
  const text = Object.entries(tables).map(([name, keys]) => `[pools.${name}]\n${keys}\n`);
  return ['--set', 'blobs.inDatabase=true', '--set-literal', `hosts.pools=${text.join('\n')}`];
};

/** Parses a CPU amount such as `250m` or `2` into millicores. */
const milli = (amount = '0'): number =>
  amount.endsWith('m') ? Number(amount.slice(0, -1)) : Number(amount) * 1_000;

const requestOf = ({ spec }: V1Pod): number =>
  (spec?.containers ?? []).reduce((sum, { resources }) => sum + milli(resources?.requests?.cpu), 0);

describe.skipIf(images === undefined)('browsers of the chart', { timeout: 240_000 }, () => {
  const { cluster } = found as TestCluster;
  let installation: ChartInstallation;
  let client: Client;
  let gateway: string;

  const podsOf = async (pool: string): Promise<V1Pod[]> => {
    const namespace = installation.hosts;
    const labelSelector = `svc.pool=${pool}`;
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector });
    return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  };

  const openWith = async (browserTier: 'standard' | 'premium'): Promise<SessionView> => {
    const surfaces: ('ui' | 'browser')[] = ['ui', 'browser'];
    const asked = { slug: 'hub', task: 'close-duplicate', surfaces, browserTier };
    const session = await open(client, asked);
    expect(session).toMatchObject({ ready: true });
    return session;
  };

  beforeAll(async () => {
    installation = await prepareInstallation(cluster, images ?? []);
    await installation.upgrade(...poolsOf(pools));
    client = await installation.client();
    gateway = new URL(await installation.serviceUrl('svc-gateway')).host;
    await client.send(createWorld, { body: { slug: 'hub', from: 'code-hosting' } });
  }, 480_000);

  afterAll(() => installation?.remove(), 180_000);

  it('solve a task through the page alone, over the gateway', async () => {
    const session = await openWith('standard');
    await solveByBrowser(client, session, gateway);
    await close(client, session.id);
  });

  it('that serve a session are not preempted by pending hosts of either tier', async () => {
    const sessions = [await openWith('standard'), await openWith('premium')];
    const serving = async (): Promise<V1Pod[]> => {
      const pods = [...(await podsOf('spot')), ...(await podsOf('steady'))];
      return pods.filter(
        ({ metadata }) =>
          metadata?.annotations?.['cluster-autoscaler.kubernetes.io/safe-to-evict'] === 'false' ||
          metadata?.labels?.['svc.protected'] === 'yes',
      );
    };
    await until(async () => (await serving()).length === 2, {
      timeoutMs: 60_000,
      everyMs: 500,
      what: 'the marks of both browsers',
    });
    const before = await serving();
    const priorities = before.map(({ spec }) => ({
      tier: spec?.priorityClassName?.split('-').at(-2),
      value: spec?.priority,
      policy: spec?.preemptionPolicy,
    }));
    expect(priorities).toEqual([
      { tier: 'standard', value: 0, policy: 'Never' },
      { tier: 'premium', value: 1_000, policy: 'Never' },
    ]);
    // One more such host fits only if all others are gone.
    const { items: all } = await cluster.core.listPodForAllNamespaces();
    const { items: nodes } = await cluster.core.listNode();
    const room = milli(nodes[0]?.status?.allocatable?.cpu);
    const others = all.filter(({ metadata }) => !metadata?.namespace?.startsWith('svc-test-'));
    const taken = others.reduce((sum, pod) => sum + requestOf(pod), 0);
    const large = `${room - taken - 30}m`;
    await installation.upgrade(
      ...poolsOf({
        ...pools,
        greedy: browsers('premium', 1, large),
        hungry: browsers('standard', 1, large),
      }),
    );
    const refusals = async (): Promise<string[]> => {
      const waiting = [...(await podsOf('greedy')), ...(await podsOf('hungry'))];
      return waiting.flatMap(({ status }) => {
        const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
        return scheduled?.reason === 'Unschedulable' ? [scheduled.message ?? ''] : [];
      });
    };
    await until(async () => (await refusals()).length === 2, {
      timeoutMs: 90_000,
      everyMs: 500,
      what: 'both that wait being looked at',
    });
    for (const said of await refusals()) {
      expect(said).toContain('not eligible due to preemptionPolicy=Never');
    }
    const uids = (pods: V1Pod[]) => pods.map(({ metadata }) => metadata?.uid);
    expect(uids(await serving())).toEqual(uids(before));
    for (const session of sessions) {
      const picture = await call(client, session.id, { kind: 'screenshot' });
      expect(picture.state).toBe('succeeded');
      await close(client, session.id);
    }
  });
});

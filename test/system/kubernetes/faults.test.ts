/**
 * The whole service with hosts as pods of a real cluster. The cluster evicts pods, loses its
 * kubelet and loses its API server in the middle of opens. Afterwards no session has two hosts, no
 * orphaned pod is left, every session is served or over with its reason, and new ones open.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BrowserTier } from '#domain/session.ts';
import { until } from '#runtime/pause.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { containerName } from '../../../orchestrator/driver/labels.ts';
import {
  call,
  close,
  createNotes,
  enqueue,
  open,
  readCall,
  readSession,
} from '../../support/control/sessions.ts';
import { keep, type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import {
  crash,
  findTestCluster,
  leftoversIn,
  prepareKubernetes,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';
import { newInstallation } from '../../support/orchestrator/runtimes.ts';
import { findClusterParts } from '../../support/programs/cluster-parts.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';

const found = await findTestCluster();
const parts = findClusterParts();
if ('missing' in found) console.info(`faults on Kubernetes are not tested: ${found.missing}`);
else if (parts === undefined) {
  console.info('faults of the cluster itself are not tested: SVC_TEST_KUBE_RUN is not set');
}

const runProgram = promisify(execFile);
const hasKubectl = await runProgram('kubectl', ['version', '--client']).then(
  () => true,
  () => false,
);
if (!hasKubectl) console.info('draining a node is not tested: there is no kubectl');

const healMs = 30_000;
const poolSize = 2;

describe.skipIf('missing' in found)('the service on Kubernetes', () => {
  const { cluster } = found as TestCluster;
  const installation = newInstallation();
  const namespace = `svc-${installation}`;
  let database: TestDatabase;
  let network: Network;
  let letGo: () => Promise<void>;

  beforeAll(async () => {
    letGo = await keep('the cluster');
    database = await testDatabase();
    const { env, host, listen } = await prepareKubernetes(found as TestCluster, installation);
    network = await startNetwork({
      databaseUrl: database.url,
      runtime: 'kubernetes',
      installation,
      poolSize,
      poolMax: 8,
      hostName: host,
      ...(listen === null ? {} : { listen }),
      env,
    });
    await createNotes(network.client);
    await network.warm(poolSize);
  }, 180_000);

  afterAll(async () => {
    await network.stop();
    await database.drop();
    await letGo();
    let left: string[] = [];
    const isClear = async (): Promise<boolean> => {
      left = await leftoversIn(cluster, installation);
      return left.length === 0;
    };
    const what = 'nothing left in the cluster';
    await until(isClear, { timeoutMs: 60_000, everyMs: 500, what }).catch(() =>
      expect(left).toEqual([]),
    );
  }, 120_000);

  /** Returns the names of the hosts' pods. */
  const podNames = async (): Promise<string[]> => {
    const labelSelector = 'svc.role=host';
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector });
    return items.flatMap(({ metadata }) => metadata?.name ?? []).sort();
  };

  const claims = (): Promise<{ session_id: string; count: number }[]> =>
    network.sql(`select session_id, count(*)::int as count from hosts
      where state <> 'gone' and session_id is not null group by session_id having count(*) > 1`);

  afterEach(async () => {
    await network.warm(poolSize);
    expect(await claims()).toEqual([]);
    await until(
      async () => {
        const rows = await network.hosts();
        const wanted = rows.map(({ id }) => containerName(id)).sort();
        return JSON.stringify(await podNames()) === JSON.stringify(wanted);
      },
      { timeoutMs: healMs, everyMs: 250, what: 'one pod for each host, and no other' },
    );
  }, 90_000);

  const openOne = async (
    browserTier: BrowserTier = 'standard',
  ): Promise<{ session: SessionView; pod: string }> => {
    const session = await open(network.client, { slug: 'notes', browserTier });
    expect(session).toMatchObject({ state: 'READY', ready: true });
    const host = (await network.hosts()).find(({ session_id }) => session_id === session.id);
    return { session, pod: containerName(host?.id ?? '') };
  };

  const isServed = async ({ id }: SessionView): Promise<void> => {
    const listed = await call(network.client, id, { kind: 'tool', name: 'list_notes' });
    expect(listed).toMatchObject({ state: 'succeeded', output: [{ id: 1 }] });
  };

  /** Opens, calls and closes a session, to check that the service works. */
  const proveWorking = async (): Promise<void> => {
    const { session } = await openOne();
    await isServed(session);
    expect(await close(network.client, session.id)).toMatchObject({ state: 'CLOSED' });
  };

  const hasEnded = (session: SessionView) =>
    until(
      async () => {
        const now = await readSession(network.client, session.id);
        return now.state === 'FAILED' ? now : undefined;
      },
      { timeoutMs: healMs, everyMs: 100, what: `${session.id} over` },
    );

  const evict = (name: string) =>
    cluster.core.createNamespacedPodEviction({
      name,
      namespace,
      body: { metadata: { name, namespace } },
    });

  it('opens, calls and closes a session in a pod', async () => {
    await proveWorking();
  });

  it.each([
    ['deleted', (name: string) => cluster.core.deleteNamespacedPod({ name, namespace })],
    ['evicted', evict],
  ])('ends a session as reclaimed when its pod is %s', async (_how, takeAway) => {
    const { session, pod } = await openOne();
    await takeAway(pod);
    expect(await hasEnded(session)).toMatchObject({ endReason: 'reclaimed' });
    await proveWorking();
  });

  it('lets the running call of an evicted pod finish', async () => {
    const { session, pod } = await openOne();
    const slow = await enqueue(network.client, session.id, {
      kind: 'tool',
      name: 'count_slowly',
      input: { milliseconds: 4_000, note_id: 2 },
    });
    const answered = () => readCall(network.client, session.id, slow.id);
    await until(async () => (await answered()).state === 'claimed', {
      timeoutMs: healMs,
      what: 'the call under way',
    });
    await evict(pod);
    expect(await hasEnded(session)).toMatchObject({ endReason: 'reclaimed' });
    expect(await answered()).toMatchObject({ state: 'succeeded', output: 2 });
  });

  it('fails a session as host_lost when its host crashed', async () => {
    const { session, pod } = await openOne();
    await crash(cluster, namespace, pod);
    expect(await hasEnded(session)).toMatchObject({
      endReason: 'host_lost',
      error: { message: expect.stringContaining('137') },
    });
    await proveWorking();
  });

  it('keeps opens waiting while its node is drained, and serves them after the drain', async () => {
    const { session, pod } = await openOne();
    const { spec } = await cluster.core.readNamespacedPod({ name: pod, namespace });
    const node = spec?.nodeName ?? '';
    const cordon = (unschedulable: boolean | null) =>
      cluster.objects.patch({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: node },
        spec: { unschedulable },
      } as object);
    await cordon(true);
    const isReadied = (async () => {
      try {
        const evicted = await podNames();
        for (const name of evicted) await evict(name);
        expect(await hasEnded(session)).toMatchObject({ endReason: 'reclaimed' });
        // An evicted pod serves sessions until its host learns of the eviction, and then reclaims
        // them.
        const areGone = async () => !(await podNames()).some((name) => evicted.includes(name));
        await until(areGone, { timeoutMs: healMs, everyMs: 100, what: 'the end of the pods' });
        const waiting = open(network.client, { slug: 'notes' });
        await until(() => network.orchestrator.log().includes('unschedulable'), {
          timeoutMs: healMs,
          what: 'the scheduler heard',
        });
        return { waiting };
      } finally {
        await cordon(null);
      }
    })();
    const { waiting } = await isReadied;
    const opened = await waiting;
    expect(opened).toMatchObject({ state: 'READY' });
    await isServed(opened);
    await close(network.client, opened.id);
  }, 120_000);

  it.skipIf(!hasKubectl)(
    'lets kubectl drain its node: ends a standard session, waits for a premium one, and recovers afterwards',
    async () => {
      const standard = await openOne();
      const premium = await openOne('premium');
      const { spec } = await cluster.core.readNamespacedPod({ name: premium.pod, namespace });
      const node = spec?.nodeName ?? '';
      const isProtected = async (): Promise<boolean> => {
        const pod = await cluster.core.readNamespacedPod({ name: premium.pod, namespace });
        return pod.metadata?.labels?.['svc.protected'] === 'yes';
      };
      await until(isProtected, { timeoutMs: healMs, everyMs: 100, what: 'the protection' });
      const own = ['--pod-selector', `svc.installation=${installation}`];
      let isDrained = false;
      const drain = runProgram(
        'kubectl',
        ['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=60s', ...own],
        { env: process.env },
      ).finally(() => {
        isDrained = true;
      });
      try {
        expect(await hasEnded(standard.session)).toMatchObject({ endReason: 'reclaimed' });
        await isServed(premium.session);
        expect(isDrained).toBe(false);
        await close(network.client, premium.session.id);
        expect((await drain).stdout).toContain(`node/${node} drained`);
      } finally {
        await drain.catch(() => undefined); // A failure here has already failed the test.
        await runProgram('kubectl', ['uncordon', node], { env: process.env });
      }
      await proveWorking();
    },
    120_000,
  );

  describe.skipIf(parts === undefined)('during an outage of parts of the cluster', () => {
    it('keeps serving while the kubelet is paused, and recovers', async () => {
      const { session } = await openOne();
      parts?.pause('kubelet');
      try {
        await isServed(session);
        const other = await open(network.client, { slug: 'notes' });
        await isServed(other);
        // The pod cannot end now; its host is drained, and destroyed after the outage.
        await close(network.client, other.id);
      } finally {
        parts?.resume('kubelet');
      }
      await isServed(session);
      await close(network.client, session.id);
      await proveWorking();
    }, 120_000);

    it.each([
      ['the API server', ['apiserver']],
      ['the API server and etcd', ['apiserver', 'etcd']],
    ] as const)(
      'loses no session when %s is killed in the middle of opens',
      async (_, killed) => {
        const { session } = await openOne();
        const opens = Array.from({ length: 6 }, () => open(network.client, { slug: 'notes' }));
        const starts = await Promise.all(killed.map((part) => parts?.kill(part)));
        try {
          await until(
            () => network.orchestrator.log().includes('the list of pods is not available now'),
            {
              timeoutMs: healMs,
              what: 'the outage noticed',
            },
          );
          await isServed(session);
        } finally {
          for (const start of starts.toReversed()) start?.();
        }
        const opened = await Promise.all(opens);
        for (const one of opened) {
          expect(one).toMatchObject({ state: 'READY' });
          await isServed(one);
        }
        const sessions = [session, ...opened];
        const closed = await Promise.all(sessions.map(({ id }) => close(network.client, id)));
        for (const one of closed) expect(one).toMatchObject({ state: 'CLOSED' });
        await proveWorking();
      },
      120_000,
    );
  });
});

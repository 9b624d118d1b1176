/**
 * Faults that take a session's browser away, on each runtime, caused on its machine behind the driver's back. All
 * containers must be on this machine, as their processes are signalled.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '#domain/limits.ts';
import { pause } from '#runtime/pause.ts';
import { containerName } from '../../../orchestrator/driver/labels.ts';
import { processesOfFolder } from '../../../orchestrator/driver/process/process-table.ts';
import { crash, type TestCluster } from '../../support/orchestrator/kubernetes.ts';
import { docker } from '../../support/orchestrator/runtimes.ts';
import type { ClusterParts } from '../../support/programs/cluster-parts.ts';
import type { Network } from '../../support/programs/network.ts';
import {
  processIds,
  processStat,
  signalTo,
  startedFirst,
} from '../../support/programs/processes.ts';

export type BrowserRuntime = 'process' | 'docker' | 'kubernetes';

export type Site = {
  runtime: BrowserRuntime;
  network: Network;
  /** The cluster, and its parts that run on this machine. */
  cluster?: TestCluster;
  parts?: ClusterParts | undefined;
  restartGateway(): Promise<void>;
};

type Host = { id: string; runtime_id: string };

export type Loss = {
  name: string;
  /** Runtimes that have this fault; all runtimes if absent. */
  on?: readonly BrowserRuntime[];
  /** True if the connections of clients to the browser pass through the lost part. */
  cutsClients: boolean;
  /** Operation that the session's ledger then records for the browser. */
  noted?: 'restored' | 'reclaimed';
  /**
   * Prepares the fault and returns a function that causes it. The promise of that function resolves when the fault has
   * happened and the test has repaired everything that the service does not repair by itself.
   */
  aim(site: Site, sessionId: string): Promise<() => Promise<unknown>>;
};

/**
 * Duration of a pause in milliseconds: longer than the time after which the control plane declares a silent host lost.
 */
const tooLongMs = limits.hostSilenceMs + 2_500;
const shortMs = 2_000;

const hostOf = async ({ network }: Site, sessionId: string, kind: string): Promise<Host> => {
  const [host] = await network.sql<Host>(
    'select id, runtime_id from hosts where session_id = $1 and kind = $2',
    [sessionId, kind],
  );
  if (host === undefined) throw new Error(`${sessionId} has no host of kind ${kind}`);
  return host;
};

/** Reads a file of a process; returns an empty text when it has ended meanwhile. */
const readOf = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return '';
  }
};

/** Returns the process ids of a host on this machine; those of containers are found by their control group. */
const processesOf = ({ runtime, network }: Site, host: Host): number[] => {
  if (runtime === 'process') {
    return processesOfFolder(join(tmpdir(), `svc-${network.installation}`, host.id));
  }
  const names = [host.runtime_id, host.runtime_id.replaceAll('-', '_')];
  return processIds().filter((pid) => names.some((name) => readOf(pid, 'cgroup').includes(name)));
};

const signalAll = (found: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of found) signalTo(pid, signal);
};

/** Returns the Chromium that serves the session: the one started first of those without a Chromium as parent. */
const chromiumOf = (site: Site, host: Host): number => {
  const all = processesOf(site, host).flatMap((pid) => processStat(pid) ?? []);
  const chromiums = all.filter(({ name }) => name.startsWith('chrom'));
  const roots = chromiums.filter(({ parent }) => !chromiums.some(({ pid }) => pid === parent));
  const first = startedFirst(roots.map(({ pid }) => pid));
  if (first === undefined) throw new Error(`no Chromium of ${host.id} runs on this machine`);
  return first.pid;
};

/** Returns a fault that suspends a whole machine: no process on it runs, and its agent does not answer. */
const pauseOf =
  ({ parts, runtime }: Site, found: readonly number[], forMs: number) =>
  async (): Promise<void> => {
    if (runtime === 'kubernetes') parts?.pause('kubelet');
    signalAll(found, 'SIGSTOP');
    await pause(forMs);
    signalAll(found, 'SIGCONT');
    if (runtime === 'kubernetes') parts?.resume('kubelet');
  };

const browserPod = async (site: Site, sessionId: string) => {
  const { cluster } = site.cluster as TestCluster;
  const { id } = await hostOf(site, sessionId, 'browser');
  return { cluster, name: containerName(id), namespace: `svc-${site.network.installation}` };
};

export const losses: readonly Loss[] = [
  {
    name: 'Chromium killed',
    cutsClients: true,
    noted: 'restored',
    async aim(site, sessionId) {
      const chromium = chromiumOf(site, await hostOf(site, sessionId, 'browser'));
      return async () => process.kill(chromium, 'SIGKILL');
    },
  },
  {
    name: 'browser killed',
    on: ['process'],
    cutsClients: true,
    noted: 'reclaimed',
    async aim(site, sessionId) {
      const all = processesOf(site, await hostOf(site, sessionId, 'browser'));
      return async () => signalAll(all, 'SIGKILL');
    },
  },
  {
    name: 'container killed',
    on: ['docker', 'kubernetes'],
    cutsClients: true,
    noted: 'reclaimed',
    async aim(site, sessionId) {
      if (site.runtime === 'docker') {
        const { runtime_id } = await hostOf(site, sessionId, 'browser');
        return () => docker('kill', runtime_id);
      }
      const { cluster, name, namespace } = await browserPod(site, sessionId);
      return () => crash(cluster, namespace, name);
    },
  },
  {
    name: 'pod removed',
    on: ['kubernetes'],
    cutsClients: true,
    noted: 'reclaimed',
    async aim(site, sessionId) {
      const { cluster, name, namespace } = await browserPod(site, sessionId);
      return () => cluster.core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 });
    },
  },
  { name: 'gateway killed', cutsClients: true, aim: async (site) => () => site.restartGateway() },
  {
    name: 'control plane killed',
    cutsClients: false,
    aim:
      async ({ network }) =>
      async () => {
        await network.control.end('SIGKILL');
        await network.restartControl();
      },
  },
  {
    name: `node paused for ${shortMs / 1_000} s`,
    cutsClients: false,
    async aim(site, sessionId) {
      const hosts = await Promise.all(
        ['world', 'browser'].map((kind) => hostOf(site, sessionId, kind)),
      );
      const all = hosts.flatMap((host) => processesOf(site, host));
      return pauseOf(site, all, shortMs);
    },
  },
  {
    // Only the browser's node is paused, since the session would end with its world host.
    name: `node of the browser paused for ${tooLongMs / 1_000} s`,
    cutsClients: true,
    noted: 'reclaimed',
    async aim(site, sessionId) {
      const host = await hostOf(site, sessionId, 'browser');
      return pauseOf(site, processesOf(site, host), tooLongMs);
    },
  },
];

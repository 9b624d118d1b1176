/**
 * What takes a session's browser away, on each runtime, and what is done to its machine behind the back of its driver. All
 * containers have to be on this machine, whose processes are signalled.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '#domain/limits.ts';
import { pause } from '#runtime/pause.ts';
import { containerName } from '../../orchestrator/driver/labels.ts';
import { processesOfFolder } from '../../orchestrator/driver/process/process-table.ts';
import type { ClusterParts } from '../support/cluster-parts.ts';
import { crash, type TestCluster } from '../support/kubernetes.ts';
import type { Network } from '../support/network.ts';
import { processIds, processStat, signalTo, startedFirst } from '../support/processes.ts';
import { docker } from '../support/runtimes.ts';

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
  /** Where there is such a thing; everywhere when not given. */
  on?: readonly BrowserRuntime[];
  /** Whether clients are connected to the browser by what is lost. */
  cutsClients: boolean;
  /** What the session's ledger says of it then. */
  noted?: 'restored' | 'reclaimed';
  /** Answers what strikes, which resolves when it has happened and what nobody else mends is mended. */
  aim(site: Site, sessionId: string): Promise<() => Promise<unknown>>;
};

/** Longer than the time after which a silent host is given up. */
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

/** A file of a process; empty when it has ended meanwhile. */
const readOf = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return '';
  }
};

/** All processes of a host, as this machine numbers them; those of containers are known by their control group. */
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

/** The Chromium that serves the session: the one started first of those that no other has started. */
const chromiumOf = (site: Site, host: Host): number => {
  const all = processesOf(site, host).flatMap((pid) => processStat(pid) ?? []);
  const chromiums = all.filter(({ name }) => name.startsWith('chrom'));
  const roots = chromiums.filter(({ parent }) => !chromiums.some(({ pid }) => pid === parent));
  const first = startedFirst(roots.map(({ pid }) => pid));
  if (first === undefined) throw new Error(`no Chromium of ${host.id} runs on this machine`);
  return first.pid;
};

/** A machine that stands still: nothing on it runs, and its agent does not answer. */
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
    // Of the browser alone: a session ends with the host of its world.
    name: `node of the browser paused for ${tooLongMs / 1_000} s`,
    cutsClients: true,
    noted: 'reclaimed',
    async aim(site, sessionId) {
      const host = await hostOf(site, sessionId, 'browser');
      return pauseOf(site, processesOf(site, host), tooLongMs);
    },
  },
];

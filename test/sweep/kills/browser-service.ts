/**
 * The whole product for the tests of lost browsers: on one of the runtimes, with a pool of browsers and a gateway in
 * front. All its programs run on this machine, its hosts wherever the runtime runs them.
 */
import { until } from '#runtime/pause.ts';
import { labelNames } from '../../../orchestrator/driver/labels.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { gatewayEnv } from '../../support/gateway/gateway.ts';
import {
  findTestCluster,
  leftoversIn,
  loadImages,
  prepareKubernetes,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';
import { newInstallation, runtimes } from '../../support/orchestrator/runtimes.ts';
import { findClusterParts } from '../../support/programs/cluster-parts.ts';
import { freePorts, type Network, startNetwork } from '../../support/programs/network.ts';
import { dockerAnswers, prepareDocker } from '../../support/programs/prepare-docker.ts';
import { type Program, startProgram } from '../../support/programs/program.ts';
import type { BrowserRuntime, Site } from './browser-losses.ts';
import { containersOf } from './containers.ts';

export type BrowserService = Site & {
  gatewayPort: number;
  /** Restarts programs that an earlier case has left dead. */
  mend(): Promise<void>;
  /** Resolves when a browser and a world host wait for a session. */
  warm(): Promise<void>;
  /** Resolves when the session's checkpoint contains the word. */
  hasKept(sessionId: string, word: string): Promise<void>;
  /** Resolves when every host that should exist has a container, and no other containers exist. */
  hasNoStrays(): Promise<void>;
  /** Returns the names of the installation's objects that still exist. */
  leftovers(): Promise<string[]>;
  stop(): Promise<void>;
};

/**
 * Returns the number of cases for each available runtime. A missing runtime is reported, and the process runtime takes
 * its cases.
 */
export const findBrowserRuntimes = async (
  wanted: Readonly<Record<BrowserRuntime, number>>,
): Promise<{ runtime: BrowserRuntime; times: number }[]> => {
  const found = { ...wanted };
  const leaveOut = (runtime: BrowserRuntime, why: string): void => {
    console.info(`browsers are not lost on ${runtime}: ${why}`);
    if (wanted.process > 0) found.process += found[runtime];
    found[runtime] = 0;
  };
  if (found.docker > 0 && !(await dockerAnswers())) leaveOut('docker', 'no engine answers here');
  if (found.kubernetes > 0) {
    const cluster = await findTestCluster();
    if ('missing' in cluster) leaveOut('kubernetes', cluster.missing);
  }
  const asked = Object.values(wanted).some((times) => times > 0);
  const all = Object.entries(found) as [BrowserRuntime, number][];
  const there = all.flatMap(([runtime, times]) => (times > 0 ? [{ runtime, times }] : []));
  if (asked && there.length === 0) throw new Error('the runtime that is asked for is not there');
  return there;
};

type Place = {
  hostName: string;
  listen: string | null;
  env: Record<string, string>;
  cluster?: TestCluster;
};

/**
 * Prepares a runtime; returns the name by which hosts reach this machine, and the environment that the orchestrator
 * needs.
 */
const placeOf = async (runtime: BrowserRuntime, installation: string): Promise<Place> => {
  if (runtime === 'process') return { hostName: '127.0.0.1', listen: null, env: {} };
  if (runtime === 'docker') {
    const { host, listen } = await prepareDocker(installation, { browsers: true });
    return { hostName: host, listen, env: {} };
  }
  const cluster = await findTestCluster();
  if ('missing' in cluster) throw new Error(cluster.missing);
  const images = await loadImages(cluster);
  const [, browser] = images ?? [];
  if (browser === undefined) throw new Error('the image of browsers needs SVC_TEST_KUBE_LOAD');
  const { env, host, listen } = await prepareKubernetes(cluster, installation);
  return { hostName: host, listen, env: { ...env, SVC_BROWSER_IMAGE: browser }, cluster };
};

/** Time within which the pools reach their targets, in milliseconds. */
const settleMs = 60_000;

const toolsOf = (network: Network) => ({
  async warm() {
    const isWarm = async (): Promise<boolean> => {
      const [row] = await network.sql<{ kinds: number }>(
        `select count(distinct kind)::int as kinds from hosts where state = 'warm'`,
      );
      return row?.kinds === 2;
    };
    await until(isWarm, { timeoutMs: settleMs, everyMs: 100, what: 'a warm host of each kind' });
  },
  async hasKept(sessionId: string, word: string) {
    const hasKept = async (): Promise<boolean> => {
      const rows = await network.sql(
        `select from browser_checkpoints where session_id = $1 and content like '%' || $2 || '%'`,
        [sessionId, word],
      );
      return rows.length === 1;
    };
    await until(hasKept, { timeoutMs: 10_000, what: `a checkpoint with "${word}"` });
  },
});

/** Starts everything; a browser and a world host are ready when it resolves. */
export const startBrowserService = async (runtime: BrowserRuntime): Promise<BrowserService> => {
  const database: TestDatabase = await testDatabase();
  const installation = newInstallation();
  const { hostName, listen, env, cluster } = await placeOf(runtime, installation);
  const { public: gatewayPort } = await freePorts();
  const template = `http://{session}--{surface}.localhost:${gatewayPort}`;
  const { SVC_GATEWAY_TOKEN = '' } = gatewayEnv('');
  const network = await startNetwork({
    ...{ databaseUrl: database.url, runtime, installation, hostName, poolSize: 1, poolMax: 4 },
    ...(listen === null ? {} : { listen }),
    env: {
      ...env,
      SVC_BROWSER_POOL_SIZE: '1',
      SVC_GATEWAY_URL: template,
      SVC_GATEWAY_TOKEN,
      SVC_SURFACES_AT: `127.0.0.1:${gatewayPort}`,
    },
  });
  const startGateway = (): Promise<Program> =>
    startProgram('src/gateway/main.ts', {
      ...gatewayEnv(network.internalUrl),
      SVC_GATEWAY_URL: template,
      SVC_HOST_NETWORKS: '127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16',
      SVC_LISTEN: `127.0.0.1:${gatewayPort}`,
    });
  let gateway = await startGateway();
  const leftovers = (): Promise<string[]> =>
    cluster !== undefined
      ? leftoversIn(cluster.cluster, installation)
      : runtimes[runtime === 'docker' ? 'docker' : 'process'].leftovers(installation);
  /** Returns the hosts with a container, and any other leftovers. */
  const containers = async (): Promise<string[]> => {
    if (runtime !== 'kubernetes') {
      const { hostIds, strays } = await containersOf(runtime, installation).find();
      return [...hostIds, ...strays];
    }
    const { core } = (cluster as TestCluster).cluster;
    const namespace = `svc-${installation}`;
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'svc.role=host' });
    return items.map(({ metadata }) => metadata?.labels?.[labelNames.host] ?? '');
  };
  return {
    runtime,
    network,
    ...(cluster === undefined ? {} : { cluster }),
    parts: findClusterParts(),
    gatewayPort,
    async restartGateway() {
      await gateway.end('SIGKILL');
      gateway = await startGateway();
    },
    async mend() {
      const hasEnded = await Promise.race([network.control.ended.then(() => true), false]);
      if (hasEnded) await network.restartControl();
    },
    ...toolsOf(network),
    async hasNoStrays() {
      let strays: string[] = [];
      const isClear = async (): Promise<boolean> => {
        const there = await containers();
        const wanted = new Set((await network.hosts()).map(({ id }) => id));
        strays = there.filter((id) => !wanted.has(id));
        return strays.length === 0;
      };
      await until(isClear, { timeoutMs: settleMs, everyMs: 250, what: 'no stray container' });
    },
    leftovers,
    async stop() {
      await gateway.end('SIGTERM');
      await network.stop();
      await database.drop();
    },
  };
};

/**
 * Measures the whole service under random arrivals: a steady Poisson load, and a hundred sessions at once. Each
 * session is opened, called once and closed, and its host recycled for another. Both loads run on real processes with
 * a load generator of their own. The floor is the same arrivals at a server that only commits.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '#runtime/pause.ts';
import { createNotes } from '../../test/support/control/sessions.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { type LoadResult, poissonArrivals, runLoad } from './arrivals.ts';
import { type Figure, percentile } from './figure.ts';
import { sessionJob } from './session-job.ts';

const rate = 45;
const seconds = 60;
const warmUpSeconds = 10;
const floorSeconds = 15;
const seed = 20_261;
const steadyPool = { poolSize: 4, poolMax: 16 };

const burst = 100;
const bursts = 5;
const burstPool = { poolSize: burst, poolMax: burst };

/**
 * Published time of agent-sandbox from claim to ready, in milliseconds, for 45 Poisson arrivals a second over a
 * minute: on a cluster of 12 nodes with 452 warm pods, each used once and for 2 s
 * (github.com/kubernetes-sigs/agent-sandbox/pull/1251). It was another machine, so it serves for orientation only.
 */
const published: Record<string, number> = { p50: 92, p99: 376 };

type Shares = Record<string, number>;
const steadyShares: Shares = { p50: 0.5, p95: 0.95, p99: 0.99 };
const burstShares: Shares = { p50: 0.5, p99: 0.99 };

type Say = (line: string) => void;

const join = (parts: readonly LoadResult[]): LoadResult => ({
  readyMs: parts.flatMap(({ readyMs }) => readyMs),
  answeredMs: parts.flatMap(({ answeredMs }) => answeredMs),
  ready: parts.flatMap(({ ready }) => ready),
  refused: parts.flatMap(({ refused }) => refused),
  failures: parts.flatMap(({ failures }) => failures),
  cores: Math.max(...parts.map(({ cores }) => cores)),
});

/** Measures the floor: the same arrivals at a bare server. Each batch is one run of the load. */
const measureFloor = async (
  databaseUrl: string,
  batches: readonly (readonly number[])[],
): Promise<LoadResult> => {
  const program = new URL('./commit-server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, databaseUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [port] = await once(child.stdout, 'data');
    const url = `http://127.0.0.1:${String(port).trim()}/`;
    const run = (offsetsMs: readonly number[]) =>
      runLoad({ journey: 'commits', url, authorization: 'none', offsetsMs });
    await run(poissonArrivals(seed, 200, 2)); // warms the server up, until its code is compiled
    const parts: LoadResult[] = [];
    for (const offsetsMs of batches) parts.push(await run(offsetsMs));
    return join(parts);
  } finally {
    child.kill();
  }
};

/** Resolves when all hosts of the pool are warm again. */
export const settled = (network: Network, count: number): Promise<true> =>
  until(
    async () => {
      const states = (await network.hosts()).map(({ state }) => state);
      return states.length >= count && states.every((state) => state === 'warm');
    },
    { timeoutMs: 180_000, everyMs: 250, what: `${count} hosts, all of them warm` },
  );

/**
 * Throws when any session failed, since the figures then mean nothing. A machine that is too slow may refuse some
 * sessions.
 */
const checked = (result: LoadResult, say: Say): LoadResult => {
  const { readyMs, refused, failures, cores } = result;
  say(
    `  ${readyMs.length} sessions ready, ${refused.length} refused for now, ${failures.length} failed; ${cores.toFixed(2)} cores to ask`,
  );
  if (failures.length > 0) {
    throw new Error(`${failures.length} sessions failed: ${failures.slice(0, 5).join('; ')}`);
  }
  return result;
};

const figuresOf = (
  name: string,
  shares: Shares,
  measured: readonly number[],
  bare: readonly number[],
  peers: Record<string, number>,
): Figure[] =>
  Object.entries(shares).map(([percent, share]) => ({
    name: `${name}.${percent}`,
    value: percentile(measured, share),
    unit: 'ms',
    floor: percentile(bare, share),
    peer: peers[percent] ?? null,
    target: null,
    better: 'lower',
  }));

const allFigures = (
  name: string,
  shares: Shares,
  measured: LoadResult,
  bare: LoadResult,
  peers: Record<string, number>,
): Figure[] => [
  ...figuresOf(name, shares, measured.readyMs, bare.readyMs, peers),
  ...figuresOf(`${name}.call`, shares, measured.answeredMs, bare.answeredMs, {}),
];

/** Starts the service with the world of notes and a warm pool, runs the work, and stops the service. */
export const withNetwork = async <Result>(
  databaseUrl: string,
  pool: { poolSize: number; poolMax: number },
  work: (network: Network) => Promise<Result>,
): Promise<Result> => {
  const env = { SVC_LOG_LEVEL: 'warn' };
  const network = await startNetwork({ databaseUrl, ...pool, env });
  try {
    await createNotes(network.client);
    await settled(network, pool.poolSize);
    return await work(network);
  } finally {
    await network.stop();
  }
};

/** Measures 45 opens a second for a minute, after ten seconds that do not count. */
export const benchPoisson = async (databaseUrl: string, say: Say): Promise<Figure[]> => {
  const bare = await measureFloor(databaseUrl, [poissonArrivals(seed, rate, floorSeconds)]);
  const measured = await withNetwork(databaseUrl, steadyPool, async (network) => {
    await runLoad(sessionJob(network, poissonArrivals(seed + 1, rate, warmUpSeconds)));
    return runLoad(sessionJob(network, poissonArrivals(seed, rate, seconds)));
  });
  return allFigures('open.poisson', steadyShares, checked(measured, say), bare, published);
};

/** Measures a hundred opens at once, five times, each when all hosts are warm and hold the world. */
export const benchBurst = async (databaseUrl: string, say: Say): Promise<Figure[]> => {
  const together: number[] = Array.from({ length: burst }, () => 0);
  const bare = await measureFloor(
    databaseUrl,
    Array.from({ length: bursts }, () => together),
  );
  const measured = await withNetwork(databaseUrl, burstPool, async (network) => {
    const parts: LoadResult[] = [];
    await runLoad(sessionJob(network, together));
    for (let index = 0; index < bursts; index += 1) {
      await settled(network, burst);
      parts.push(await runLoad(sessionJob(network, together)));
    }
    return join(parts);
  });
  return allFigures('open.burst100', burstShares, checked(measured, say), bare, {});
};

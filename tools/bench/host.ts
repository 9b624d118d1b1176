/**
 * Measures how fast the world host serves a vendor's API, compared with a bare server and its peers. All run on this
 * machine and get requests in turn, round after round, so that other work of the machine affects all alike. Each
 * figure is the median of its rounds.
 */
import { spawnSync } from 'node:child_process';
import { type Figure, median, sample } from './figure.ts';
import { loadGenerator, residentMb } from './host-load.ts';
import { startWarmHost } from './host-ours.ts';
import { installPeers } from './host-peers-install.ts';
import { measureRounds, type Rounds } from './host-rounds.ts';
import {
  type MeasuredServer,
  type Operation,
  operations,
  type ServerName,
  serverNames,
  startServer,
} from './host-servers.ts';
import { type SoakSample, soak, soakFigures } from './host-soak.ts';

const warmUpSeconds = 1;
const rounds = 5;
const roundSeconds = 2;
const starts = 11;

export type Throughput = Rounds & { server: ServerName; operation: Operation };

/** All results, for the page in `docs/`. */
export type HostReport = {
  loadGenerator: string;
  throughput: Throughput[];
  /** Time to the first answer in milliseconds, and memory in MB while idle. */
  idle: { server: ServerName; startMs: number; rssMb: number | null }[];
  soak: SoakSample[];
  figures: Figure[];
};

type Options = { wants(name: string): boolean; say(line: string): void };

/** Targets: minimum share of the floor's requests a second. */
const targetShares: Record<Operation, number> = { get: 0.35, list100: 0.7, patch: 0.2, post: 0.2 };

const startMs = { target: 150 };
const rssMb = { target: 80 };

const measureOperation = async (
  servers: readonly MeasuredServer[],
  operation: Operation,
): Promise<Throughput[]> => {
  const load = { rounds, seconds: roundSeconds, warmUpSeconds };
  const measured = await measureRounds(servers, ({ requests }) => requests[operation], load);
  return measured.map(({ server, ...seen }) => ({ server: server.name, operation, ...seen }));
};

/** Returns a figure of throughput. GET must also be faster than every peer; all servers keep state. */
const throughputFigure = (operation: Operation, measured: readonly Throughput[]): Figure => {
  const of = (server: ServerName): number =>
    measured.find((one) => one.server === server)?.perSecond ?? Number.NaN;
  const peers = serverNames.filter((name) => name !== 'floor' && name !== 'ours').map(of);
  const share = targetShares[operation] * of('floor');
  return {
    name: `host.${operation}`,
    value: of('ours'),
    unit: 'requests/s',
    floor: of('floor'),
    peer: Math.max(...peers),
    target: operation === 'get' ? Math.max(share, ...peers) : share,
    better: 'higher',
  };
};

/** Measures the start; the floor is a start of Node that runs nothing. */
const startFigure = async (peer: number | null): Promise<Figure> => {
  const samples: number[] = [];
  for (let run = 0; run < starts; run += 1) {
    const host = await startWarmHost();
    samples.push(host.startMs);
    await host.stop();
  }
  const bare = await sample(starts, async () => spawnSync(process.execPath, ['--eval', '0']));
  const [value, floor] = [median(samples), median(bare)];
  const { target } = startMs;
  return { name: 'host.start', value, unit: 'ms', floor, peer, target, better: 'lower' };
};

const rssFigure = (idle: HostReport['idle']): Figure | undefined => {
  const value = idle.find(({ server }) => server === 'ours')?.rssMb ?? null;
  if (value === null) return undefined;
  const isPeer = ({ server }: HostReport['idle'][number]) =>
    server !== 'floor' && server !== 'ours';
  const peer = Math.min(...idle.filter(isPeer).map((one) => one.rssMb ?? Number.NaN));
  const { target } = rssMb;
  return { name: 'host.rss', value, unit: 'MB', floor: null, peer, target, better: 'lower' };
};

const withServers = async <Value>(
  say: Options['say'],
  work: (servers: MeasuredServer[]) => Promise<Value>,
): Promise<Value> => {
  const servers: MeasuredServer[] = [];
  try {
    for (const name of serverNames) {
      const server = await startServer(name);
      servers.push(server);
      say(`  ${name} answers after ${server.startMs.toFixed(0)} ms`);
    }
    return await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
};

const compare = async ({ wants, say }: Options, report: HostReport): Promise<void> => {
  const wanted = operations.filter((operation) => wants(`host.${operation}`));
  if (wanted.length === 0 && !wants('host.rss')) return;
  say('starting the floor, the host and its peers');
  await withServers(say, async (servers) => {
    report.idle = servers.map(({ name, pid, startMs }) => ({
      server: name,
      startMs,
      rssMb: residentMb(pid),
    }));
    const rss = rssFigure(report.idle);
    if (rss === undefined) say('left out: host.rss (there is no /proc)');
    else report.figures.push(rss);
    for (const operation of wanted) {
      say(`sending requests to all servers by ${loadGenerator}: ${operation}`);
      const measured = await measureOperation(servers, operation);
      report.throughput.push(...measured);
      report.figures.push(throughputFigure(operation, measured));
    }
  });
};

/** Measures the figures `host.*` except those of resets. */
export const benchHost = async ({ wants, say }: Options): Promise<HostReport> => {
  const report: HostReport = { loadGenerator, throughput: [], idle: [], soak: [], figures: [] };
  if (loadGenerator !== 'wrk')
    say('wrk is not installed: autocannon sends the requests instead, and is slower');
  await installPeers(say);
  await compare({ wants, say }, report);
  if (wants('host.start')) {
    say('starting hosts');
    report.figures.push(await startFigure(null));
  }
  if (wants('host.soak')) {
    say('sending 1,000,000 requests to one host');
    report.soak = await soak(say);
    report.figures.push(...soakFigures(report.soak));
  }
  return report;
};

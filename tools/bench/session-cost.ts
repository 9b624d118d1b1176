/**
 * Measures the cost of one session in processor time of all programs together, from its opening until its host is warm
 * again: opened with `reuseWarm`, called once, closed with `keepWarm`. Sessions run one after the other, in rounds
 * that alternate with rounds of the floor: as many bare commits. No host reaches its maximum of uses meanwhile.
 */
import { until } from '#runtime/pause.ts';
import { call, close, createNotes, open } from '../../test/support/control/sessions.ts';
import { freePorts, type Network, startNetwork } from '../../test/support/programs/network.ts';
import { poissonArrivals, runLoad } from './arrivals.ts';
import { type Figure, median } from './figure.ts';
import { startCommitter } from './floor.ts';
import { readProcessorTime } from './processor-time.ts';
import { sessionJob } from './session-job.ts';

const hosts = 4;
const warmUpSessions = 200;
const rounds = 5;
const sessionsInRound = 100;
const commitsInRound = 1_000;
const steady = { perSecond: 20, seconds: 15, seed: 20_262 };

type Say = (line: string) => void;
type Server = { pid: number };

const programs = ['host', 'control', 'postgres', 'orchestrator'] as const;
/** Processor time by program, in milliseconds. */
type Cost = Record<(typeof programs)[number], number>;

const totalOf = (cost: Cost): number => programs.reduce((sum, name) => sum + cost[name], 0);

const readCost = (network: Network, server: Server): Cost => {
  const roots = [network.control.pid, server.pid, network.orchestrator.pid];
  const [control, postgres, orchestrator] = readProcessorTime(roots);
  return {
    host: orchestrator?.startedMs ?? 0,
    control: (control?.ownMs ?? 0) + (control?.startedMs ?? 0),
    postgres: (postgres?.ownMs ?? 0) + (postgres?.startedMs ?? 0),
    orchestrator: orchestrator?.ownMs ?? 0,
  };
};

/** Returns the cost of work for each of this many sessions. */
const costOf = async (
  read: () => Cost,
  sessions: number,
  work: () => Promise<unknown>,
): Promise<Cost> => {
  const before = read();
  await work();
  const after = read();
  const each = programs.map((name) => [name, (after[name] - before[name]) / sessions]);
  return Object.fromEntries(each) as Cost;
};

const settled = (network: Network): Promise<true> =>
  until(
    async () => {
      const states = (await network.hosts()).map(({ state }) => state);
      return states.length === hosts && states.every((state) => state === 'warm');
    },
    { timeoutMs: 60_000, everyMs: 50, what: `${hosts} warm hosts` },
  );

const liveOnce = async ({ client }: Network): Promise<void> => {
  const session = await open(client, { slug: 'notes', reuseWarm: true });
  if (session.state !== 'READY') throw new Error(`${session.id} is ${session.state}`);
  const input = { id: 1_001, folder_id: 1, title: 'a note', done: false };
  const record = await call(client, session.id, { kind: 'tool', name: 'create_notes', input });
  if (record.state !== 'succeeded') throw new Error(`${record.id} is ${record.state}`);
  await close(client, session.id, true);
};

const live = async (network: Network, sessions: number): Promise<void> => {
  for (let index = 0; index < sessions; index += 1) await liveOnce(network);
  await settled(network);
};

/** Transactions of a database so far: their number in all, and the number of those that wrote. */
type Asked = { transactions: number; writes: number };

const readAsked = async ({ sql }: Network): Promise<Asked> => {
  const [row] = await sql<Asked>(
    `select xact_commit::float8 as transactions, pg_snapshot_xmax(pg_current_snapshot())::text::float8 as writes
       from pg_stat_database where datname = current_database()`,
  );
  if (row === undefined) throw new Error('the database reports no statistics');
  return row;
};

/** Returns the number of requests that the control plane has answered, by operation. */
const readMessages = async (metricsUrl: string): Promise<Map<string, number>> => {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, operation, count] =
      /^svc_http_requests_total\{.*operation="(\w+)".*\} (\d+)/.exec(line) ?? [];
    if (operation === undefined) continue;
    counts.set(operation, (counts.get(operation) ?? 0) + Number(count));
  }
  return counts;
};

type Traffic = Asked & { messages: number };

/** Measures the requests and transactions of one session, from those of many. */
const trafficOf = async (
  network: Network,
  metricsUrl: string,
  say: Say,
  sessions: number,
  work: () => Promise<unknown>,
): Promise<Traffic> => {
  const before = { asked: await readAsked(network), messages: await readMessages(metricsUrl) };
  await work();
  const after = { asked: await readAsked(network), messages: await readMessages(metricsUrl) };
  const each = [...after.messages]
    .map(([name, count]) => [name, (count - (before.messages.get(name) ?? 0)) / sessions] as const)
    .filter(([, count]) => count > 0.01);
  say(`  messages: ${each.map(([name, count]) => `${name} ${count.toFixed(2)}`).join(', ')}`);
  return {
    messages: each.reduce((sum, [, count]) => sum + count, 0),
    transactions: (after.asked.transactions - before.asked.transactions) / sessions,
    writes: (after.asked.writes - before.asked.writes) / sessions,
  };
};

/** Measures the processor time of one bare commit, of the client and of the database. */
const measureCommits = async (databaseUrl: string, server: Server): Promise<number> => {
  const committer = await startCommitter(databaseUrl);
  try {
    const read = (): number =>
      readProcessorTime([committer.pid, server.pid])
        .map(({ ownMs, startedMs }) => ownMs + startedMs)
        .reduce((sum, ms) => sum + ms, 0);
    await committer.commit(commitsInRound);
    const before = read();
    await committer.commit(commitsInRound);
    return (read() - before) / commitsInRound;
  } finally {
    await committer.end();
  }
};

const figure = (name: string, value: number, rest: Partial<Figure> = {}): Figure => ({
  name,
  value,
  unit: 'ms',
  floor: null,
  peer: null,
  target: null,
  better: 'lower',
  ...rest,
});

const show = (cost: Cost): string =>
  programs.map((name) => `${name} ${cost[name].toFixed(1)}`).join(', ');

/** Measures the cost. No other program may use the database's server meanwhile. */
export const benchSessionCost = async (
  databaseUrl: string,
  server: Server,
  say: Say,
): Promise<Figure[]> => {
  const metricsAddress = `127.0.0.1:${(await freePorts()).public}`;
  const network = await startNetwork({
    databaseUrl,
    poolSize: hosts,
    poolMax: hosts,
    env: { SVC_LOG_LEVEL: 'warn' },
    controlEnv: { SVC_HOST_MAX_USES: '1000000', SVC_METRICS_LISTEN: metricsAddress },
  });
  try {
    await createNotes(network.client);
    await settled(network);
    await live(network, warmUpSessions);
    const read = () => readCost(network, server);
    const costs: Cost[] = [];
    const commitMs: number[] = [];
    const measure = async (): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        commitMs.push(await measureCommits(databaseUrl, server));
        const cost = await costOf(read, sessionsInRound, () => live(network, sessionsInRound));
        say(`  ${totalOf(cost).toFixed(1)} ms: ${show(cost)}`);
        costs.push(cost);
      }
    };
    const traffic = await trafficOf(network, `http://${metricsAddress}`, say, sessionsInRound, () =>
      live(network, sessionsInRound),
    );
    await measure();
    const offsets = poissonArrivals(steady.seed, steady.perSecond, steady.seconds);
    const atRate = await costOf(read, offsets.length, async () => {
      const { failures } = await runLoad(sessionJob(network, offsets));
      if (failures.length > 0) throw new Error(`sessions failed: ${failures[0]}`);
      await settled(network);
    });
    say(`  ${steady.perSecond} a second: ${totalOf(atRate).toFixed(1)} ms: ${show(atRate)}`);
    const floor = traffic.writes * median(commitMs);
    return [
      figure('session.cpu', median(costs.map(totalOf)), { floor, target: 10 }),
      ...programs.map((name) =>
        figure(`session.cpu.${name}`, median(costs.map((cost) => cost[name]))),
      ),
      figure('session.cpu.rate20', totalOf(atRate), { floor }),
      figure('session.messages', traffic.messages, { unit: 'each' }),
      figure('session.transactions', traffic.transactions, { unit: 'each' }),
      figure('session.commits', traffic.writes, { unit: 'each' }),
    ];
  } finally {
    await network.stop();
  }
};

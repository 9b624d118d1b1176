/**
 * The faults that the sweep causes, and their permitted costs. A strike resolves when the fault is present, with the
 * function that repairs it, which runs when the case's time is over.
 */
import { limits } from '#domain/limits.ts';
import { pause, until } from '#runtime/pause.ts';
import { drainHosts } from '#wire/admin-api/operations.ts';
import { signalTo } from '../../support/programs/processes.ts';
import type { LinkName, Service } from './service.ts';

/**
 * Permitted cost of a fault. `nothing`: every call succeeds and every session ends as its owner requests. `calls`: a
 * running call may fail without having changed anything. `session`: one session may fail with a reason, and lose its
 * running call.
 */
export type Cost = 'nothing' | 'calls' | 'session';

/** Target of a strike: the host of the moment, and the duration of the fault. */
export type Aim = { hostId: string | undefined; lastsMs: number };

export type Heal = () => Promise<void>;

export type Fault = {
  name: string;
  costs: Cost;
  /** Runtime that the fault is limited to; any runtime if absent. */
  only?: Service['runtime'];
  /** True if the fault lasts until all deadlines have passed, which is too long for a short sweep. */
  isLong?: true;
  strike(service: Service, aim: Aim): Promise<Heal>;
};

/**
 * Duration of a long fault in milliseconds: longer than a lease, and longer than the time after which the control plane
 * declares a silent host lost.
 */
const longMs = 12_500;

const graceMs = 500;

/** Time within which the database server works again after one of its processes was killed, in milliseconds. */
const recoverMs = 30_000;

const nothingToHeal: Heal = async () => undefined;

const killed = (program: 'control' | 'orchestrator'): Fault => ({
  name: `${program} killed`,
  costs: 'nothing',
  async strike({ network }, { lastsMs }) {
    await network[program].end('SIGKILL');
    return async () => {
      await pause(lastsMs);
      if (program === 'control') await network.restartControl();
      else await network.restartOrchestrator();
    };
  },
});

const stopped = (program: 'control' | 'orchestrator'): Fault => ({
  name: `${program} paused`,
  costs: 'nothing',
  async strike({ network }, { lastsMs }) {
    const { pid } = network[program];
    process.kill(pid, 'SIGSTOP');
    return async () => {
      await pause(lastsMs);
      process.kill(pid, 'SIGCONT');
    };
  },
});

const hostKilled: Fault = {
  name: 'host killed',
  costs: 'session',
  async strike({ containers }, { hostId }) {
    if (hostId !== undefined) await containers.kill(hostId);
    return nothingToHeal;
  },
};

const workersKilled: Fault = {
  name: 'workers of user code killed',
  costs: 'calls',
  async strike({ containers }, { hostId }) {
    if (hostId !== undefined) await containers.killWorkers(hostId);
    return nothingToHeal;
  },
};

const hostPaused = (isLong: boolean): Fault => ({
  name: isLong ? 'host paused until it is given up' : 'host paused',
  costs: isLong ? 'session' : 'nothing',
  ...(isLong ? { isLong } : {}),
  async strike({ containers }, { hostId, lastsMs }) {
    if (hostId === undefined) return nothingToHeal;
    await containers.pause(hostId);
    return async () => {
      await pause(isLong ? longMs : lastsMs);
      await containers.resume(hostId);
    };
  },
});

/**
 * Takes a host off its network. After a short fault the host returns at another port; if the engine gives it another
 * address, the host ends.
 */
const hostUnplugged = (isLong: boolean): Fault => ({
  name: isLong ? 'host off its network until it is given up' : 'host off its network for a moment',
  costs: 'session',
  only: 'docker',
  ...(isLong ? { isLong } : {}),
  async strike({ containers }, { hostId }) {
    const plugIn = hostId === undefined ? undefined : await containers.unplug?.(hostId);
    if (plugIn === undefined) return nothingToHeal;
    if (!isLong) await plugIn();
    return async () => {
      if (!isLong) return;
      await pause(longMs);
      await plugIn();
    };
  },
});

const controlBackends = `from pg_stat_activity where application_name like 'svc-control%'`;

const connectionsEnded: Fault = {
  name: 'database connections ended',
  costs: 'nothing',
  async strike({ network }) {
    await network.sql(`select pg_terminate_backend(pid) ${controlBackends}`);
    return nothingToHeal;
  },
};

/** Waits until the server has noticed that a backend was killed, has ended every connection, and has recovered. */
const untilRecovered = async ({ sql }: Service['network'], killed: number[]): Promise<void> => {
  const isRecovered = async (): Promise<boolean> => {
    try {
      const left = await sql('select from pg_stat_activity where pid = any($1)', [killed]);
      return left.length === 0;
    } catch {
      return false; // the server refuses connections while it recovers
    }
  };
  await until(isRecovered, { timeoutMs: recoverMs, what: 'the database recovered' });
};

const backendSignalled = (name: string, signal: 'SIGKILL' | 'SIGSTOP'): Fault => ({
  name,
  costs: 'nothing',
  async strike({ network }, { lastsMs }) {
    const rows = await network.sql<{ pid: number }>(
      `select pid ${controlBackends} order by query_start desc limit 1`,
    );
    const pids = rows.map(({ pid }) => pid);
    for (const pid of pids) signalTo(pid, signal);
    return async () => {
      if (signal === 'SIGKILL') return untilRecovered(network, pids);
      await pause(lastsMs);
      for (const pid of pids) signalTo(pid, 'SIGCONT');
    };
  },
});

const databaseCrashed: Fault = {
  name: 'database server crashed',
  costs: 'nothing',
  async strike({ crashDatabase }, { lastsMs }) {
    const isDown = Promise.withResolvers<void>();
    const restarted = crashDatabase(async () => {
      isDown.resolve();
      await pause(lastsMs);
    });
    await Promise.race([isDown.promise, restarted]);
    return () => restarted;
  },
};

const linkFaults = (link: LinkName): Fault[] => [
  {
    name: `${link} link reset`,
    costs: 'nothing',
    async strike({ links }) {
      links[link].reset();
      return nothingToHeal;
    },
  },
  {
    name: `${link} link cut`,
    costs: 'nothing',
    async strike({ links }, { lastsMs }) {
      links[link].cut(true);
      return async () => {
        await pause(lastsMs);
        links[link].cut(false);
      };
    },
  },
  {
    name: `${link} link hanging`,
    costs: 'nothing',
    async strike({ links }, { lastsMs }) {
      links[link].hang(true);
      return async () => {
        await pause(lastsMs);
        links[link].hang(false);
      };
    },
  },
  {
    name: `${link} link slow`,
    costs: 'nothing',
    async strike({ links }, { lastsMs }) {
      links[link].slow(lastsMs / 20);
      return async () => {
        await pause(lastsMs);
        links[link].slow(0);
      };
    },
  },
];

const hostLinkGone: Fault = {
  name: 'host link cut until hosts are given up',
  costs: 'session',
  isLong: true,
  async strike({ links }) {
    links.host.cut(true);
    return async () => {
      await pause(longMs);
      links.host.cut(false);
    };
  },
};

/**
 * A host that is cut off while no orchestrator removes it. The host has to stop by itself before the control plane
 * gives its session up.
 */
const hostForgotten: Fault = {
  name: 'host link cut, and its session given up while its host stays',
  costs: 'session',
  isLong: true,
  async strike({ links, network, operator }, { hostId }) {
    const { pid } = network.orchestrator;
    process.kill(pid, 'SIGSTOP');
    links.host.cut(true);
    return async () => {
      await pause(limits.hostSilenceMs + graceMs);
      if (hostId !== undefined) {
        await operator.send(drainHosts, { body: { hostId, endSessions: true } });
      }
      await pause(longMs - limits.hostSilenceMs);
      process.kill(pid, 'SIGCONT');
      links.host.cut(false);
    };
  },
};

const orchestratorOverslept: Fault = {
  name: 'orchestrator paused beyond its lease',
  costs: 'nothing',
  isLong: true,
  async strike(service, aim) {
    return stopped('orchestrator').strike(service, { ...aim, lastsMs: longMs });
  },
};

export const faults: readonly Fault[] = [
  killed('control'),
  stopped('control'),
  killed('orchestrator'),
  stopped('orchestrator'),
  orchestratorOverslept,
  hostKilled,
  workersKilled,
  hostPaused(false),
  hostPaused(true),
  hostUnplugged(false),
  hostUnplugged(true),
  connectionsEnded,
  backendSignalled('database backend killed', 'SIGKILL'),
  backendSignalled('database backend paused', 'SIGSTOP'),
  databaseCrashed,
  ...linkFaults('client'),
  ...linkFaults('host'),
  ...linkFaults('pool'),
  ...linkFaults('database'),
  hostLinkGone,
  hostForgotten,
];

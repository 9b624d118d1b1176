/**
 * Runs the whole service on this machine: PostgreSQL, the control plane, the orchestrator with its
 * world hosts, a gateway where one is wanted, on one data folder. `svc up` and `svc demo` are two ways to use it.
 *
 * Whatever has been started is pushed on a stack and ended from its top, so that a failure half-way
 * and an orderly stop are the same thing.
 */
import { join } from 'node:path';
import { AppError, describeError } from '#domain/error.ts';
import type { BrowserTier } from '#domain/session.ts';
import type { Env } from '#runtime/env.ts';
import { undoStart } from '#runtime/release.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Tell } from '../terminal/progress.ts';
import type { Authority } from './authority.ts';
import { type BrowserChoice, chooseBrowsers } from './browser-choice.ts';
import { startChild } from './children.ts';
import { describeLeftOnEngine, probeEngine } from './docker-engine.ts';
import {
  type DataFolder,
  loadSecrets,
  openDataFolder,
  rememberPorts,
  type Secrets,
  writeCredentials,
} from './folder.ts';
import { choosePort, choosePortNear, findFreePort } from './free-port.ts';
import { type Kept, keepRunning, type Started } from './keep.ts';
import { type FolderLock, takeLock } from './lock.ts';
import { hearOrchestrator } from './orchestrator-lines.ts';
import { countOpen, type OpenSessions, watchHosts } from './pool-look.ts';
import { startPostgres } from './postgres.ts';
import { endLeftOvers, findProcesses, sendSignal } from './processes.ts';
import { passOn, programs, titled } from './programs.ts';
import {
  chooseRuntime,
  dismantle,
  fallBack,
  type PreparedRuntime,
  prepareDocker,
  type RuntimeChoice,
  type RuntimeWish,
} from './runtime.ts';
import { openFronts, openSecure } from './secure.ts';
import {
  controlEnv,
  gatewayEnv,
  type MetricsPorts,
  orchestratorEnv,
  type Site,
  senderEnv,
  surfaceTemplate,
} from './site.ts';

type UpOptions = {
  /** Absolute path of the data folder. */
  data: string;
  /** 0: any free one, the same as last time when it is free. */
  port: number;
  runtime: RuntimeWish;
  poolSize: number;
  /** Browsers to keep warm; undefined: none until a session asks, where the machine has a Chromium. */
  browsers?: number | undefined;
  /** The tier of sessions that name none. */
  browserTier?: BrowserTier | undefined;
  /** Absolute path of a file of pools. */
  poolsFile?: string | undefined;
  /** Port of a gateway, 0: any free one; undefined: no gateway. */
  gatewayPort?: number | undefined;
  /** Serves API and gateway over https, by certificates of an authority of the folder. */
  tls?: boolean | undefined;
  /** First of the ports on which the programs tell of themselves; undefined: they do not. */
  metricsPort?: number | undefined;
  env: Env;
  /** Aborts a start. */
  signal: AbortSignal;
  /** What the start is doing now. */
  tell: Tell;
  /** What happens while it runs, for the user to know. */
  say(message: string): void;
};

export type Up = {
  url: string;
  /** How addresses of surfaces look, with a gateway. */
  surfaceTemplate: string | undefined;
  /** What clients are to trust, with `tls`. */
  authority: Authority | undefined;
  metricsPorts: MetricsPorts | undefined;
  secrets: Secrets;
  folder: DataFolder;
  runtime: RuntimeChoice;
  browsers: BrowserChoice;
  /** Looks at the world hosts, whenever they change, until the look is enough. */
  watchHosts(isEnough: (hosts: PoolHost[]) => boolean, signal: AbortSignal): Promise<void>;
  /** How many sessions are open; undefined when nobody can tell. */
  openSessions(): Promise<OpenSessions | undefined>;
  /** Ends everything, in the order in which the parts need one another. */
  stop(): Promise<void>;
  /** Kills everything at once, world hosts that are processes among them. Containers stay. */
  kill(): void;
  /** Removes what is left after `kill`. */
  dismantle(): Promise<void>;
  /** What is left after `kill` and how to remove it, in words; undefined: nothing. */
  describeLeft(): Promise<string | undefined>;
};

/**
 * The orchestrator removes the world hosts, which takes it less than three seconds unless their engine is
 * slow; together with the others', and PostgreSQL's own milliseconds, a stop then takes less than five.
 */
const stopMs = { gateway: 500, sender: 12_000, orchestrator: 35_000, control: 1_000 } as const;
/** After so long, the user is told that a stop takes long. */
const usualStopMs = 3_000;
/** How long a runtime is given to remove what an orchestrator has left. */
const cleanMs = 30_000;
/** What is under way through the gateway may take so long to end. */
const finishMs = 250;

/** Where sessions are served when nothing is said. */
export const usualGatewayPort = 4_600;

/** One for each program in a row, or any free ones when it is 0. */
const chooseMetricsPorts = async (first: number): Promise<MetricsPorts> => {
  const choose = (place: number) => choosePort('--metrics', first === 0 ? 0 : first + place);
  return {
    control: await choose(0),
    orchestrator: await choose(1),
    gateway: await choose(2),
    sender: await choose(3),
  };
};

type Parts = {
  /** Ends what was started. */
  stack: AsyncDisposableStack;
  parts: Kept[];
  options: UpOptions;
  /** The runtime that may hold something of the installation which no orchestrator has removed. */
  inUse: RuntimeChoice['runtime'] | undefined;
};

type Runtime = { choice: RuntimeChoice; prepared: PreparedRuntime | undefined };

/** What the runtime still holds of an installation and how to remove it, in words; undefined: nothing. */
const describeLeft = async (
  env: Env,
  { installation }: Secrets,
  runtime: RuntimeChoice['runtime'],
): Promise<string | undefined> =>
  runtime === 'docker' ? await describeLeftOnEngine(env, installation) : undefined;

/** Removes what the runtime holds of an installation. If it cannot, the user is told, and nothing is thrown. */
const cleanRuntime = async (
  { env, say }: UpOptions,
  secrets: Secrets,
  runtime: RuntimeChoice['runtime'],
): Promise<void> => {
  const { installation } = secrets;
  const dismantleEnv = { ...passOn(env), SVC_INSTALLATION: installation, SVC_RUNTIME: runtime };
  try {
    await dismantle(dismantleEnv, AbortSignal.timeout(cleanMs));
  } catch (error) {
    say(`the world hosts of ${installation} cannot all be removed: ${describeError(error)}`);
    const left = await describeLeft(env, secrets, runtime);
    if (left !== undefined) say(left);
  }
};

/** Removes what an orchestrator that did not end as it should, or never came up, has left. */
const removeLeft = async (all: Parts, secrets: Secrets): Promise<void> => {
  if (all.inUse !== undefined) await cleanRuntime(all.options, secrets, all.inUse);
};

/** Chooses, and makes ready what was chosen; what that makes is removed should the start fail. */
const chooseAndPrepare = async (all: Parts, secrets: Secrets): Promise<Runtime> => {
  const { options } = all;
  const { runtime: wish, env, tell, signal } = options;
  const choice = chooseRuntime(wish, await probeEngine(env));
  if (choice.runtime === 'process') return { choice, prepared: undefined };
  all.inUse = 'docker';
  try {
    const { browsers } = options;
    const prepareEnv = {
      ...passOn(env),
      SVC_INSTALLATION: secrets.installation,
      ...(browsers === undefined ? {} : { SVC_BROWSER_POOL_SIZE: String(browsers) }),
    };
    return { choice, prepared: await prepareDocker({ env: prepareEnv, tell, signal }) };
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    const choice = fallBack(wish, error);
    await cleanRuntime(options, secrets, 'docker');
    all.inUse = undefined;
    return { choice, prepared: undefined };
  }
};

/** Starts a part, keeps it running, and remembers how to end it. */
const keepPart = async (
  { stack, parts, options }: Parts,
  name: string,
  start: (signal: AbortSignal) => Promise<Started>,
  stop: (kept: Kept) => Promise<unknown>,
): Promise<void> => {
  const kept = await keepRunning({ name, start, say: options.say }, options.signal);
  parts.push(kept);
  stack.defer(async () => void (await stop(kept)));
};

const within = (ms: number) => (kept: Kept) => kept.stop(ms);

/** Starts the database and answers its connection string, which stays the same over its restarts. */
const keepDatabase = async (all: Parts, folder: DataFolder, secrets: Secrets): Promise<string> => {
  const port = await findFreePort();
  let url = '';
  const start = async (): Promise<Started> => {
    const server = await startPostgres({
      dataDir: folder.postgresDir,
      password: secrets.databasePassword,
      logFile: join(folder.logDir, 'postgres.log'),
      port,
    });
    url = server.url();
    const stop = async () => {
      await server.stop();
      return true;
    };
    return { pid: server.pid, ended: server.ended, stop };
  };
  await keepPart(all, 'database', start, within(0));
  return url;
};

const keepControl = (all: Parts, site: Site, databaseUrl: string, { prepared }: Runtime) =>
  keepPart(
    all,
    'control plane',
    (signal) =>
      startChild(
        {
          name: 'control plane',
          args: titled(programs.control, 'control plane', site.secrets),
          env: controlEnv(site, databaseUrl, prepared),
          logFile: join(site.folder.logDir, 'control.log'),
          hear: (line) => 'listening' in line,
        },
        signal,
      ),
    within(stopMs.control),
  );

/** Ends the orchestrator, which removes the world hosts; if it does not, somebody else has to. */
const stopOrchestrator = async (all: Parts, kept: Kept): Promise<void> => {
  const { say } = all.options;
  const slow = setTimeout(() => {
    say('the world hosts are still being removed; Ctrl-C again leaves what is left of them');
  }, usualStopMs);
  const isDone = await kept.stop(stopMs.orchestrator);
  clearTimeout(slow);
  if (isDone) all.inUse = undefined;
  else if (all.inUse !== undefined) say('the orchestrator has not removed all world hosts');
};

const keepOrchestrator = (all: Parts, site: Site, { choice, prepared }: Runtime) => {
  const hear = hearOrchestrator(all.options.say);
  const start = (signal: AbortSignal): Promise<Started> =>
    startChild(
      {
        name: 'orchestrator',
        args: titled(programs.orchestrator, 'orchestrator', site.secrets),
        env: orchestratorEnv(site, prepared),
        logFile: join(site.folder.logDir, 'orchestrator.log'),
        hear,
      },
      signal,
    );
  all.inUse = choice.runtime;
  return keepPart(all, 'orchestrator', start, (kept) => stopOrchestrator(all, kept));
};

const keepGateway = (all: Parts, site: Site) =>
  keepPart(
    all,
    'gateway',
    (signal) =>
      startChild(
        {
          name: 'gateway',
          args: titled(programs.gateway, 'gateway', site.secrets),
          env: gatewayEnv(site, finishMs),
          logFile: join(site.folder.logDir, 'gateway.log'),
          hear: (line) => 'listening' in line,
        },
        signal,
      ),
    within(stopMs.gateway),
  );

const keepSender = (all: Parts, site: Site) =>
  keepPart(
    all,
    'sender',
    (signal) =>
      startChild(
        {
          name: 'sender',
          args: titled(programs.sender, 'sender', site.secrets),
          env: senderEnv(site),
          logFile: join(site.folder.logDir, 'sender.log'),
          hear: (line) => 'listening' in line,
        },
        signal,
      ),
    within(stopMs.sender),
  );

const startParts = async (all: Parts, folder: DataFolder, lock: FolderLock): Promise<Up> => {
  const { options, stack, parts } = all;
  const { env, signal, tell, poolSize, poolsFile } = options;
  const secrets = loadSecrets(folder);
  stack.defer(() => removeLeft(all, secrets));
  const ended = await endLeftOvers(secrets.installation, signal);
  if (lock.wasStale || ended > 0) options.say('the last svc up was cut off; cleaning up after it');
  const port = await choosePort('--port', options.port, secrets.port);
  const { metricsPort } = options;
  const wanted = options.gatewayPort ?? (options.tls ? usualGatewayPort : undefined);
  const gatewayPort = wanted === undefined ? wanted : await choosePort('--gateway', wanted);
  const secure = options.tls ? await openSecure(folder, secrets) : undefined;
  const metricsPorts =
    metricsPort === undefined ? metricsPort : await chooseMetricsPorts(metricsPort);
  const url = `${secure === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  const hostPort = await choosePortNear(port + 1);
  const internalPort = await choosePortNear(port + 2);
  const places = { port, url, hostPort, internalPort, gatewayPort, metricsPorts, secure };
  const { browserTier } = options;

  tell('starting PostgreSQL');
  const [database, runtime] = await settleAll([
    keepDatabase(all, folder, secrets),
    chooseAndPrepare(all, secrets),
  ]);
  signal.throwIfAborted();
  const browsers = chooseBrowsers(options.browsers, runtime.choice.runtime, env.SVC_CHROMIUM);
  const pools = { poolSize, poolsFile, browsers: browsers.warm, browserTier };
  const site: Site = { env, folder, secrets, ...pools, ...places };
  if (secure !== undefined) stack.defer(await openFronts(site, secure));
  tell('starting the control plane');
  await keepControl(all, site, database, runtime);
  if (gatewayPort !== undefined) {
    tell('starting the gateway');
    await keepGateway(all, site);
  }
  await keepSender(all, site);
  tell('starting the orchestrator');
  await keepOrchestrator(all, site, runtime);

  rememberPorts(folder, secrets, { port, internalPort });
  writeCredentials(folder, { url, caFile: secure?.authority.caFile }, secrets);
  lock.tell(url);
  return {
    url,
    surfaceTemplate: surfaceTemplate(site),
    authority: secure?.authority,
    metricsPorts,
    secrets,
    folder,
    runtime: runtime.choice,
    browsers,
    watchHosts: (isEnough, until) => watchHosts(site, isEnough, until),
    stop: () => stack.disposeAsync(),
    openSessions: () => countOpen(site),
    kill() {
      all.inUse = undefined;
      for (const part of parts) part.kill();
      for (const pid of findProcesses(secrets.installation)) sendSignal(pid, 'SIGKILL');
    },
    dismantle: () => cleanRuntime(options, secrets, runtime.choice.runtime),
    describeLeft: () => describeLeft(env, secrets, runtime.choice.runtime),
  };
};

/** Both results, or the first error, but never before both have ended: nothing starts unnoticed. */
const settleAll = async <A, B>(works: [Promise<A>, Promise<B>]): Promise<[A, B]> => {
  await Promise.allSettled(works);
  return Promise.all(works);
};

/**
 * Starts everything. When it throws, nothing of it is left running; the data folder stays.
 * Throws `conflict` for a folder, lock or port that cannot be had, `unavailable` for a part that does
 * not start, and the signal's reason when it aborts.
 */
export const startUp = async (options: UpOptions): Promise<Up> => {
  const stack = new AsyncDisposableStack();
  const all: Parts = { stack, parts: [], options, inUse: undefined };
  const folder = openDataFolder(options.data);
  const lock = takeLock(folder.lockFile, folder.path);
  stack.defer(() => lock.release());
  try {
    return await startParts(all, folder, lock);
  } catch (error) {
    throw await undoStart(error, stack, (failure) => options.say(describeError(failure)));
  }
};

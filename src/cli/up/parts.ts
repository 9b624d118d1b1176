/** Starts each program of a service on this machine, keeps it running, and stops the programs in order. */
import { join } from 'node:path';
import { AppError, describeError } from '#domain/error.ts';
import type { BrowserTier } from '#domain/session.ts';
import type { Env } from '#runtime/env.ts';
import type { ShowStep } from '../terminal/progress.ts';
import { type ChildOptions, startChild } from './children.ts';
import { describeLeftOnEngine, probeEngine } from './docker-engine.ts';
import type { DataFolder, Secrets } from './folder.ts';
import { type Kept, keepRunning, type Started } from './keep.ts';
import { hearOrchestrator } from './orchestrator-lines.ts';
import { startPostgres } from './postgres.ts';
import { passOn, programs, titled } from './programs.ts';
import { describeWithoutPython } from './python.ts';
import {
  chooseRuntime,
  dismantle,
  fallBack,
  type PreparedRuntime,
  prepareDocker,
  type RuntimeChoice,
  type RuntimeWish,
} from './runtime.ts';
import { controlEnv, gatewayEnv, orchestratorEnv, type Site, senderEnv } from './site.ts';

/** Options of a start. */
export type UpOptions = {
  /** Absolute path of the data folder. */
  data: string;
  /** Port of the API. 0 means the port of the last start if that is free, or else any free port. */
  port: number;
  runtime: RuntimeWish;
  poolSize: number;
  /** Number of browsers to keep warm. Undefined: browsers start on demand, if this machine has a Chromium. */
  browsers?: number | undefined;
  /** Browser tier of sessions that name none. */
  browserTier?: BrowserTier | undefined;
  /** Absolute path of a pools file. */
  poolsFile?: string | undefined;
  /** Port of a gateway; 0: any free port; undefined: no gateway is started. */
  gatewayPort?: number | undefined;
  /** True to serve API and gateway over https, with certificates of the folder's authority. */
  tls?: boolean | undefined;
  /** First of the ports that serve metrics and status; undefined: they are not served. */
  metricsPort?: number | undefined;
  env: Env;
  /** Aborts the start. */
  signal: AbortSignal;
  /** Sets the progress text of the start. */
  showStep: ShowStep;
  /** Prints a message to the user while the service runs. */
  say(message: string): void;
};

/**
 * Maximum time for each program to stop, in milliseconds. The orchestrator removes the world hosts in less than three
 * seconds, unless their engine is slow. With the other programs and PostgreSQL, which needs milliseconds, a stop then
 * takes less than five seconds.
 */
const stopMs = { gateway: 500, sender: 12_000, orchestrator: 35_000, control: 1_000 } as const;
/** Time after which `svc up` prints that the stop takes long, in milliseconds. */
const usualStopMs = 3_000;
/** Maximum time for removing everything that an orchestrator has left at its runtime, in milliseconds. */
const cleanMs = 30_000;
/** Maximum time for open requests through the gateway to finish, in milliseconds. */
const finishMs = 250;

export type Parts = {
  /** Stack of functions, each of which stops a part that was started. */
  stack: AsyncDisposableStack;
  parts: Kept[];
  options: UpOptions;
  /**
   * Runtime that may still have containers, processes or networks of the installation; undefined if everything was
   * removed, or nothing was started.
   */
  inUse: RuntimeChoice['runtime'] | undefined;
};

export type Runtime = { choice: RuntimeChoice; prepared: PreparedRuntime | undefined };

/** Describes what the runtime still has of an installation, and how to remove it; undefined if it has nothing. */
export const describeLeft = async (
  env: Env,
  { installation }: Secrets,
  runtime: RuntimeChoice['runtime'],
): Promise<string | undefined> =>
  runtime === 'docker' ? await describeLeftOnEngine(env, installation) : undefined;

/** Removes what the runtime has of an installation. If that fails, prints a message instead of throwing. */
export const cleanRuntime = async (
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

/** Removes what is left of an orchestrator that failed to start or to stop properly. */
export const removeLeft = async (all: Parts, secrets: Secrets): Promise<void> => {
  if (all.inUse !== undefined) await cleanRuntime(all.options, secrets, all.inUse);
};

/**
 * Prints what this machine lacks for hosts that are processes. It is not called for containers, which need no software
 * of this machine.
 */
const onThisMachine = async (
  { env, say }: UpOptions,
  choice: RuntimeChoice,
): Promise<RuntimeChoice> => {
  const lack = await describeWithoutPython(env);
  if (lack !== undefined) say(lack);
  return choice;
};

/** Chooses and prepares the runtime. If a later part of the start fails, what was created here is removed. */
export const chooseAndPrepare = async (all: Parts, secrets: Secrets): Promise<Runtime> => {
  const { options } = all;
  const { runtime: wish, env, showStep, signal } = options;
  const choice = chooseRuntime(wish, await probeEngine(env));
  if (choice.runtime === 'process')
    return { choice: await onThisMachine(options, choice), prepared: undefined };
  all.inUse = 'docker';
  try {
    const { browsers } = options;
    const prepareEnv = {
      ...passOn(env),
      SVC_INSTALLATION: secrets.installation,
      ...(browsers === undefined ? {} : { SVC_BROWSER_POOL_SIZE: String(browsers) }),
    };
    return { choice, prepared: await prepareDocker({ env: prepareEnv, showStep, signal }) };
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    const choice = fallBack(wish, error);
    await cleanRuntime(options, secrets, 'docker');
    all.inUse = undefined;
    return { choice: await onThisMachine(options, choice), prepared: undefined };
  }
};

/** Starts a part, keeps it running, and registers how it is stopped. */
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

/** Starts the database and returns its connection string, which stays the same across restarts. */
export const keepDatabase = async (
  all: Parts,
  folder: DataFolder,
  secrets: Secrets,
  port: number,
): Promise<string> => {
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

type Program = {
  /** Name of the program in messages. */
  name: string;
  file: keyof typeof programs;
  env: Record<string, string>;
  /** Handles each line that the program prints. Returns true once the program is up. */
  hear?: ChildOptions['hear'];
  stop?: (kept: Kept) => Promise<unknown>;
};

const isListening: ChildOptions['hear'] = (line) => 'listening' in line;

/** Starts a program of the service as a part. It logs to a file with its name. */
const keepProgram = (
  all: Parts,
  { folder, secrets }: Site,
  { name, file, env, hear = isListening, stop = within(stopMs[file]) }: Program,
): Promise<void> => {
  const args = titled(programs[file], name, secrets);
  const child = { name, args, env, logFile: join(folder.logDir, `${file}.log`), hear };
  return keepPart(all, name, (signal) => startChild(child, signal), stop);
};

export const keepControl = (all: Parts, site: Site, databaseUrl: string, { prepared }: Runtime) =>
  keepProgram(all, site, {
    name: 'control plane',
    file: 'control',
    env: controlEnv(site, databaseUrl, prepared),
  });

/**
 * Stops the orchestrator, which removes the world hosts. If it fails to remove them, `inUse` stays set, and
 * `removeLeft` removes them.
 */
const stopOrchestrator = async (all: Parts, kept: Kept): Promise<void> => {
  const { say } = all.options;
  const slow = setTimeout(() => {
    say('the world hosts are still being removed; Ctrl-C again stops without removing the rest');
  }, usualStopMs);
  const isDone = await kept.stop(stopMs.orchestrator);
  clearTimeout(slow);
  if (isDone) all.inUse = undefined;
  else if (all.inUse !== undefined) say('the orchestrator did not remove all world hosts');
};

export const keepOrchestrator = (all: Parts, site: Site, { choice, prepared }: Runtime) => {
  all.inUse = choice.runtime;
  return keepProgram(all, site, {
    name: 'orchestrator',
    file: 'orchestrator',
    env: orchestratorEnv(site, prepared),
    hear: hearOrchestrator(all.options.say),
    stop: (kept) => stopOrchestrator(all, kept),
  });
};

export const keepGateway = (all: Parts, site: Site) =>
  keepProgram(all, site, { name: 'gateway', file: 'gateway', env: gatewayEnv(site, finishMs) });

export const keepSender = (all: Parts, site: Site) =>
  keepProgram(all, site, { name: 'sender', file: 'sender', env: senderEnv(site) });

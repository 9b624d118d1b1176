/**
 * Runs the whole service on one data folder of this machine: PostgreSQL, the control plane, the orchestrator with its
 * world hosts, and optionally a gateway. `svc up` and `svc demo` use it.
 * Everything that is started is pushed on a stack and stopped in reverse order. So a failed start and an orderly stop
 * use the same code.
 */
import { describeError } from '#domain/error.ts';
import { undoStart } from '#runtime/release.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Authority } from './authority.ts';
import { type BrowserChoice, chooseBrowsers } from './browser-choice.ts';
import {
  type DataFolder,
  loadSecrets,
  openDataFolder,
  rememberPorts,
  type Secrets,
  writeCredentials,
} from './folder.ts';
import { type FolderLock, takeLock } from './lock.ts';
import {
  chooseAndPrepare,
  cleanRuntime,
  describeLeft,
  keepControl,
  keepDatabase,
  keepGateway,
  keepOrchestrator,
  keepSender,
  type Parts,
  removeLeft,
  type UpOptions,
} from './parts.ts';
import { countOpen, type OpenSessions, watchHosts } from './pool-look.ts';
import { choosePorts, type Ports } from './ports.ts';
import { endLeftOvers, findProcesses, sendSignal } from './processes.ts';
import type { RuntimeChoice } from './runtime.ts';
import { openFronts, openSecure } from './secure.ts';
import { type Site, surfaceTemplate } from './site.ts';

export type Up = {
  url: string;
  /** Template of the addresses of surfaces; only with a gateway. */
  surfaceTemplate: string | undefined;
  /** Certificate authority that clients have to trust; only with `tls`. */
  authority: Authority | undefined;
  ports: Ports;
  secrets: Secrets;
  folder: DataFolder;
  runtime: RuntimeChoice;
  browsers: BrowserChoice;
  /** Watches the world hosts until `isEnough` returns true. */
  watchHosts(isEnough: (hosts: PoolHost[]) => boolean, signal: AbortSignal): Promise<void>;
  /** Returns the number of open sessions; undefined if the control plane does not answer. */
  openSessions(): Promise<OpenSessions | undefined>;
  /** Stops all parts in reverse order of their start. */
  stop(): Promise<void>;
  /** Kills all processes at once, including world hosts that are processes. Containers are not removed. */
  kill(): void;
  /** Removes what is left after `kill`. */
  dismantle(): Promise<void>;
  /** Describes what is left after `kill`, and how to remove it; undefined if nothing is left. */
  describeLeft(): Promise<string | undefined>;
};

/** Default port of the gateway. */
export const usualGatewayPort = 4_600;

const startParts = async (all: Parts, folder: DataFolder, lock: FolderLock): Promise<Up> => {
  const { options, stack, parts } = all;
  const { env, signal, showStep, poolSize, poolsFile } = options;
  const secrets = loadSecrets(folder);
  stack.defer(() => removeLeft(all, secrets));
  const ended = await endLeftOvers(secrets.installation, signal);
  if (lock.wasStale || ended > 0)
    options.say('the last svc up did not end properly; removing what it left');
  const { browserTier, tls = false } = options;
  const ports = await choosePorts({
    port: options.port,
    remembered: secrets.port,
    gateway: options.gatewayPort ?? (tls ? usualGatewayPort : undefined),
    metrics: options.metricsPort,
    tls,
  });
  const authority = tls ? await openSecure(folder, secrets) : undefined;
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${ports.api}`;

  showStep('starting PostgreSQL');
  const [database, runtime] = await settleAll([
    keepDatabase(all, folder, secrets, ports.database),
    chooseAndPrepare(all, secrets),
  ]);
  signal.throwIfAborted();
  const browsers = chooseBrowsers(options.browsers, runtime.choice.runtime, env.SVC_CHROMIUM);
  const pools = { poolSize, poolsFile, browsers: browsers.warm, browserTier };
  const site: Site = { env, folder, secrets, ...pools, ports, url, authority };
  if (authority !== undefined) stack.defer(await openFronts(ports, authority));
  showStep('starting the control plane');
  await keepControl(all, site, database, runtime);
  if (ports.gateway !== undefined) {
    showStep('starting the gateway');
    await keepGateway(all, site);
  }
  await keepSender(all, site);
  showStep('starting the orchestrator');
  await keepOrchestrator(all, site, runtime);

  rememberPorts(folder, secrets, { port: ports.api, internalPort: ports.internal });
  writeCredentials(folder, { url, caFile: authority?.caFile }, secrets);
  lock.publishUrl(url);
  return {
    url,
    surfaceTemplate: surfaceTemplate(site),
    authority,
    ports,
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

/**
 * Returns both results. If either fails, throws the first error once both have settled, so that nothing is started
 * unnoticed.
 */
const settleAll = async <A, B>(works: [Promise<A>, Promise<B>]): Promise<[A, B]> => {
  await Promise.allSettled(works);
  return Promise.all(works);
};

/**
 * Starts all programs. If it throws, no program is left running; the data folder remains. Throws `conflict` for a
 * folder, lock or port that cannot be used, and `unavailable` for a program that does not start. If the signal aborts,
 * throws its reason.
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

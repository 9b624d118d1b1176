/**
 * The container runtimes that the drivers' contract is held against, each with what a test needs beside
 * the driver: a way to kill a container behind its back, and to see what is left of an installation.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#runtime/log.ts';
import type { Driver, Launched, Prepared } from '../../orchestrator/driver/driver.ts';
import type { HostSettings } from '../../orchestrator/driver/host-environment.ts';
import { containerName, labelsOf, type Owner } from '../../orchestrator/driver/labels.ts';
import { openDriver } from '../../orchestrator/driver/open/open-driver.ts';
import type { RuntimeConfig } from '../../orchestrator/driver/open/runtime-config.ts';
import { outputOf } from './commands.ts';
import { exclusively } from './postgres.ts';
import { processesNaming } from './processes.ts';

/** Runs the Docker client and answers what it printed. */
export const docker = async (...words: string[]): Promise<string> =>
  (await outputOf('docker', words)).trim();

/** A host with what its launch answered. */
export type LaunchedHost = Launched & { hostId: string };

export type Runtime = {
  config: RuntimeConfig;
  kill(host: LaunchedHost): Promise<void>;
  /** Leaves what a launch leaves that was cut off before its container ran. */
  halfLaunch(owner: Owner, image: string | null): Promise<void>;
  /** What a container says of itself to whoever looks at the machine. */
  labels(host: LaunchedHost): Promise<string>;
  /** All that it shows of a container, with its environment and command line. */
  inspect(host: LaunchedHost): Promise<string>;
  /** Names of what an installation has on this machine, or in the cluster. */
  leftovers(installation: string): Promise<string[]>;
};

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const processRuntime = (sandbox: 'bubblewrap' | 'none'): Runtime => ({
  config: { runtime: 'process', python: 'python3', path: process.env.PATH ?? '', sandbox },
  kill: async ({ runtimeId }) => {
    process.kill(Number(runtimeId), 'SIGKILL');
  },
  halfLaunch: async ({ installation, hostId }) => {
    mkdirSync(join(tmpdir(), `svc-${installation}`, hostId), { recursive: true });
  },
  labels: async ({ runtimeId }) => readFileSync(`/proc/${runtimeId}/cmdline`, 'utf8'),
  inspect: async ({ hostId }) =>
    processesNaming(hostId)
      .flatMap(({ pid }) => ['cmdline', 'environ'].map((file) => `/proc/${pid}/${file}`))
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n'),
  leftovers: async (installation) => [
    ...processesNaming(installation).map(({ commandLine }) => commandLine),
    ...[join(tmpdir(), `svc-${installation}`)].filter((folder) => existsSync(folder)),
  ],
});

export const runtimes: Record<'process' | 'bubblewrap' | 'docker', Runtime> = {
  process: processRuntime('none'),
  bubblewrap: processRuntime('bubblewrap'),
  docker: {
    config: {
      runtime: 'docker',
      engine: process.env.DOCKER_HOST,
      home: process.env.HOME,
      image: undefined,
      baseImage: undefined,
    },
    kill: async ({ runtimeId }) => {
      await docker('kill', runtimeId);
    },
    halfLaunch: async (owner, image) => {
      const labels = Object.entries(labelsOf(owner, 'host')).flatMap(([name, value]) => [
        '--label',
        `${name}=${value}`,
      ]);
      await docker('create', '--name', containerName(owner.hostId), ...labels, String(image));
    },
    inspect: ({ runtimeId }) => docker('inspect', runtimeId),
    labels: ({ runtimeId }) => docker('inspect', '--format', '{{json .Config.Labels}}', runtimeId),
    leftovers: async (installation) => {
      const label = ['--quiet', '--filter', `label=svc.installation=${installation}`];
      const [containers, networks] = await Promise.all([
        docker('ps', '--all', ...label),
        docker('network', 'ls', ...label),
      ]);
      return [...lines(containers), ...lines(networks)];
    },
  },
};

/** Whether bubblewrap works here, with Node and Python in it. */
export const sandboxWorks = async (): Promise<boolean> => {
  const { config } = runtimes.bubblewrap;
  const host = { controlUrl: 'http://127.0.0.1:1', logLevel: 'info' } as const;
  const log = createLog('orchestrator', 'silent');
  const opened = openDriver(config, { installation: newInstallation(), host, log });
  return opened.then(
    () => true,
    () => false,
  );
};

/**
 * Prepares a runtime for tests: progress goes nowhere, and one file at a time builds the image. They do not
 * wait for those that load all images into a cluster, which takes longer than a hook may.
 */
export const prepareQuietly = (driver: Driver): Promise<Prepared> =>
  exclusively('the image of hosts', () =>
    driver.prepare({ onProgress: () => undefined, signal: new AbortController().signal }),
  );

export const newInstallation = (): string => `test-${randomBytes(4).toString('hex')}`;

/**
 * A driver as the orchestrator opens it, for hosts that find their control plane at `controlUrl` and run
 * `image` (by default, on Docker, the one of this tree).
 */
export const driverOf = (
  { config }: Runtime,
  installation: string,
  controlUrl: string,
  image?: string | null,
  sharedSnapshots?: HostSettings['sharedSnapshots'],
): Promise<Driver> =>
  openDriver(config.runtime === 'docker' ? { ...config, image: image ?? undefined } : config, {
    installation,
    host: { controlUrl, logLevel: 'info', sharedSnapshots },
    log: createLog('orchestrator', 'silent'),
  });

/**
 * Container runtimes for the tests of the drivers' contract, each with helpers besides the driver: to kill a container
 * behind its back, and to list an installation's leftovers.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#runtime/log.ts';
import type { Driver, Launched, Prepared } from '../../../orchestrator/driver/driver.ts';
import type { HostSettings } from '../../../orchestrator/driver/host-environment.ts';
import { containerName, labelsOf, type Owner } from '../../../orchestrator/driver/labels.ts';
import { openDriver } from '../../../orchestrator/driver/open/open-driver.ts';
import type { RuntimeConfig } from '../../../orchestrator/driver/open/runtime-config.ts';
import { outputOf } from '../cli/commands.ts';
import { exclusively } from '../database/postgres.ts';
import { processesNaming } from '../programs/processes.ts';

/** Runs the Docker client and returns its output. */
export const docker = async (...words: string[]): Promise<string> =>
  (await outputOf('docker', words)).trim();

/** A host with the result of its launch. */
export type LaunchedHost = Launched & { hostId: string };

export type Runtime = {
  config: RuntimeConfig;
  kill(host: LaunchedHost): Promise<void>;
  /** Leaves the traces of a launch that was interrupted before its container ran. */
  halfLaunch(owner: Owner, image: string | null): Promise<void>;
  /** Returns the labels of a container, as the machine shows them. */
  labels(host: LaunchedHost): Promise<string>;
  /** Returns everything that the machine shows of a container, with its environment and command line. */
  inspect(host: LaunchedHost): Promise<string>;
  /** Returns the names of an installation's objects on this machine, or in the cluster. */
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

/** Returns true if bubblewrap works here, with Node and Python in it. */
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
 * Prepares a runtime for tests: progress is discarded, and one file at a time builds the image. It uses a lock of its
 * own, since files that load all images into a cluster take longer than a hook may.
 */
export const prepareQuietly = (driver: Driver): Promise<Prepared> =>
  exclusively('the image of hosts', () =>
    driver.prepare({ onProgress: () => undefined, signal: new AbortController().signal }),
  );

export const newInstallation = (): string => `test-${randomBytes(4).toString('hex')}`;

/**
 * Opens a driver as the orchestrator does, for hosts that reach their control plane at `controlUrl` and run `image`
 * (by default, on Docker, the one of this tree).
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

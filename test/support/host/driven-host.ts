/**
 * A real world host on a real runtime, against a stand-in for the control plane. Tests use it to check what a session
 * can do to its host, so it gives access to the host's own environment.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newId } from '#domain/id.ts';
import { Secret } from '#runtime/secret.ts';
import { testPool } from '../orchestrator/pools.ts';
import {
  docker,
  driverOf,
  newInstallation,
  prepareQuietly,
  runtimes,
  sandboxWorks,
} from '../orchestrator/runtimes.ts';
import { dockerAnswers } from '../programs/prepare-docker.ts';
import { killNaming, processesNaming } from '../programs/processes.ts';
import { type StandInControl, startStandInControl } from './stand-in-control.ts';

const run = promisify(execFile);

export const hostRuntimes = ['process', 'bubblewrap', 'docker'] as const;
export type HostRuntime = (typeof hostRuntimes)[number];

/** Returns why a runtime is not available here, by runtime; available ones have no entry. */
export const findMissingRuntimes = async (): Promise<Partial<Record<HostRuntime, string>>> => ({
  ...((await dockerAnswers()) ? {} : { docker: 'no Docker engine answers' }),
  ...((await sandboxWorks()) ? {} : { bubblewrap: 'bubblewrap does not work here' }),
});

export type DrivenHost = {
  hostId: string;
  control: StandInControl;
  /** Folder of the host, by its path inside the host. */
  workDir: string;
  /** Runs Python as the host's user, in the host's namespaces; returns its output. */
  python(script: string, ...words: string[]): Promise<string>;
  /** Runs a command as root in the container, without restrictions. On Docker only. */
  asRoot(...words: string[]): Promise<string>;
};

export type DrivenHosts = {
  /** Starts a host that loads worlds from these blobs. */
  start(blobs: ReadonlyMap<string, Uint8Array>): Promise<DrivenHost>;
  /** Ends all hosts, and removes what belongs to them. */
  stop(): Promise<void>;
};

/** Prepares a runtime for hosts of an installation of their own. */
export const prepareDrivenHosts = async (name: HostRuntime): Promise<DrivenHosts> => {
  const runtime = runtimes[name];
  const installation = newInstallation();
  const preparing = await driverOf(runtime, installation, 'http://127.0.0.1:1');
  const { host: hostName, image, listen } = await prepareQuietly(preparing);
  const addresses = ['127.0.0.1', ...(listen === null ? [] : [listen])];
  const ends: (() => Promise<void>)[] = [];

  const runPython = async (hostId: string, words: string[]): Promise<string> => {
    if (name === 'docker') return docker('exec', `svc-${hostId}`, ...words);
    const folder = join(tmpdir(), `svc-${installation}`, hostId);
    // The environment of a process that a worker started.
    const env = { PATH: process.env.PATH ?? '', TMPDIR: `${folder}/work/code` };
    const [program = '', ...rest] = words;
    if (name === 'process') return (await run(program, rest, { env })).stdout;
    const host = processesNaming(hostId).find(({ commandLine }) => /^\S*node /.test(commandLine));
    const into = ['--user', '--pid', '--mount', '--ipc', '--preserve-credentials'];
    return (await run('nsenter', ['--target', String(host?.pid), ...into, ...words], { env }))
      .stdout;
  };

  return {
    async start(blobs) {
      const control = await startStandInControl(blobs, addresses);
      const url = `http://${hostName}:${control.port}`;
      const driver = await driverOf(runtime, installation, url, image);
      const hostId = newId('hst');
      const shape = testPool({ isolation: name === 'docker' ? 'container' : 'process' });
      await driver.launch({ hostId, generation: 0, token: new Secret('token'), shape });
      ends.push(async () => {
        await driver.destroy(hostId);
        await control.stop();
      });
      const folder = join(tmpdir(), `svc-${installation}`, hostId);
      return {
        hostId,
        control,
        workDir: name === 'docker' ? '/tmp/work' : join(folder, 'work'),
        python: (script, ...words) => runPython(hostId, ['python3', '-c', script, ...words]),
        asRoot: (...words) => docker('exec', '--user', '0', `svc-${hostId}`, ...words),
      };
    },
    async stop() {
      for (const end of ends) await end();
      killNaming(`svc-${installation}`);
      await preparing.dismantle();
    },
  };
};

/**
 * The engine's containers of one installation, by host. A lookup by name also checks the labels: a container of
 * another installation counts as absent.
 */
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { engineRefusal, isStatus } from '../../engine/engine.ts';
import { readFrames } from '../../engine/frames.ts';
import type { Container, ContainerExit } from '../driver.ts';
import { heapExit, heapStatus } from '../heap.ts';
import { containerName, labelNames, type Owner, ownerOf } from '../labels.ts';
import { listedAddress } from './container.ts';
import type { Firewall } from './firewall.ts';

const logLines = 50;
/** Exit status of a process killed by SIGKILL. */
const killedStatus = 137;

/** A container of this installation: its owner, and the engine's data about it. */
export type FoundContainer = { owner: Owner; info: Docker.ContainerInspectInfo };

export type Containers = {
  /** Returns the host's own container, dead or alive. */
  find(hostId: string): Promise<FoundContainer | undefined>;
  /** Returns every host with a container. Removes the containers for network rules that an ended orchestrator left. */
  list(): Promise<Container[]>;
  /** Creates a container, unless one of its name exists, or the engine lacks the image. */
  create(request: Docker.ContainerCreateOptions): Promise<'made' | 'exists' | 'no image'>;
  /** Starts the host's container and writes a line to its standard input. */
  start(hostId: string, line: string): Promise<void>;
  /** Ends and removes a container by its id or name, if it exists. */
  remove(name: string): Promise<void>;
  /** Removes what is left of the containers that loaded the host's network rules. */
  removeLoaders(hostId: string): Promise<void>;
  /** Returns the last output of a container. */
  logs(id: string): Promise<string>;
};

const exitOf = ({ State }: Docker.ContainerInspectInfo): ContainerExit => {
  if (State.ExitCode === heapStatus) return heapExit;
  return State.OOMKilled && State.ExitCode === killedStatus
    ? { reason: 'out_of_memory', detail: 'killed: out of memory' }
    : { reason: 'exited', detail: `exit status ${State.ExitCode} ${State.Error}`.trim() };
};

const phaseOf = (state: string): Container['phase'] => {
  if (state === 'created') return 'created';
  return state === 'running' || state === 'paused' ? 'running' : 'exited';
};

const roleOf = ({ Labels }: Docker.ContainerInfo): string | undefined => Labels[labelNames.role];

/** Creates access to the containers of one installation on an engine. */
export const createContainers = (
  docker: Docker,
  installation: string,
  firewall: Firewall,
): Containers => {
  const find = async (hostId: string): Promise<FoundContainer | undefined> => {
    try {
      const info = await docker.getContainer(containerName(hostId)).inspect();
      const owner = ownerOf(info.Config.Labels);
      return owner?.installation === installation ? { owner, info } : undefined;
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw engineRefusal(`looking at the container of ${hostId}`, error);
    }
  };

  const describe = async (info: Docker.ContainerInfo): Promise<Container[]> => {
    const owner = ownerOf(info.Labels);
    if (owner === undefined) return [];
    const { hostId, digest } = owner;
    const phase = phaseOf(info.State);
    const container = { hostId, phase, digest };
    if (phase === 'running') return [{ ...container, address: listedAddress(info) }];
    if (phase !== 'exited') return [container];
    const found = await find(hostId);
    return found === undefined ? [] : [{ ...container, exit: exitOf(found.info) }];
  };

  const listLabelled = async (...labels: string[]): Promise<Docker.ContainerInfo[]> => {
    const label = [`${labelNames.installation}=${installation}`, ...labels];
    try {
      return await docker.listContainers({ all: true, filters: { label } });
    } catch (error) {
      throw engineRefusal('listing containers', error);
    }
  };

  const remove = async (name: string): Promise<void> => {
    try {
      await docker.getContainer(name).remove({ force: true, v: true });
    } catch (error) {
      // 409: another removal of it is in progress.
      if (!isStatus(error, 404, 409)) throw engineRefusal(`removing ${name}`, error);
    }
  };

  return {
    find,
    remove,
    async list() {
      const infos = await listLabelled();
      const leftLoaders = infos.filter(
        (info) => roleOf(info) === 'fence' && firewall.isLeftover(info),
      );
      await Promise.all(leftLoaders.map(({ Id }) => remove(Id)));
      const ofHosts = infos.filter((info) => roleOf(info) === 'host');
      const hosts = (await Promise.all(ofHosts.map((info) => describe(info)))).flat();
      const known = new Set(hosts.map(({ hostId }) => hostId));
      // A leftover rules container whose host is gone stands for that host, so that the plan destroys it.
      const left = infos
        .flatMap((info) => (roleOf(info) === 'fence' ? (ownerOf(info.Labels) ?? []) : []))
        .filter(({ hostId }) => !known.has(hostId))
        .map(({ hostId, digest }): Container => ({ hostId, phase: 'exited', digest }));
      return [...hosts, ...left];
    },
    async create(request) {
      try {
        await docker.createContainer(request);
        return 'made';
      } catch (error) {
        if (isStatus(error, 409)) return 'exists';
        if (isStatus(error, 404)) return 'no image';
        throw engineRefusal(`creating ${request.name} from ${request.Image}`, error);
      }
    },
    async start(hostId, line) {
      const container = docker.getContainer(containerName(hostId));
      let input: Duplex | undefined;
      try {
        // Attach before the start, so that the line reaches the process as soon as it reads its input.
        const attached = await container.attach({ stream: true, stdin: true, hijack: true });
        input = attached as Duplex;
        // If the connection breaks, the host misses its line and exits; the plan replaces it.
        input.on('error', () => undefined);
        await container.start();
        input.end(`${line}\n`);
      } catch (error) {
        input?.destroy();
        throw engineRefusal(`starting the container of ${hostId}`, error);
      }
    },
    async removeLoaders(hostId) {
      const labels = [`${labelNames.host}=${hostId}`, `${labelNames.role}=fence`];
      const left = await listLabelled(...labels);
      await Promise.all(left.map(({ Id }) => remove(Id)));
    },
    async logs(id) {
      const options = { stdout: true, stderr: true, tail: logLines, follow: false } as const;
      return readFrames(await docker.getContainer(id).logs(options));
    },
  };
};

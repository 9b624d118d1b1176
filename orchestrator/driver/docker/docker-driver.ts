/**
 * World hosts as Docker containers. A host's container has a name of its own that nothing else can
 * take, labels that tell whose it is, and a fence that stands before the host's address is known to
 * anybody, so before any code of a world can run in it.
 */
import type Docker from 'dockerode';
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Container, ContainerExit, Driver, Launched, OnProgress } from '../driver.ts';
import { containerName, labelNames, ownerOf } from '../labels.ts';
import { addressOf, type ContainerSettings, containerRequest } from './container.ts';
import { type Engine, engineRefusal, isStatus } from './engine.ts';
import { watchContainers } from './events.ts';
import { destinationOf, raiseFence } from './fence.ts';
import { readFrames } from './frames.ts';
import { ensureNetwork, machineName, meetingPoint, removeNetwork } from './network.ts';

const logLines = 50;
const killedStatus = 137;

export type DockerDriverOptions = ContainerSettings & {
  engine: Engine;
  /** Makes the image of this tree; absent when the operator names one, which is taken as it is. */
  makeImage: ((onProgress: OnProgress) => Promise<void>) | undefined;
  log: Log;
};

const exitOf = ({ State }: Docker.ContainerInspectInfo): ContainerExit =>
  State.OOMKilled && State.ExitCode === killedStatus
    ? { reason: 'out_of_memory', detail: 'killed: out of memory' }
    : { reason: 'exited', detail: `exit status ${State.ExitCode} ${State.Error}`.trim() };

const phaseOf = (state: string): Container['phase'] => {
  if (state === 'created') return 'created';
  return state === 'running' || state === 'paused' ? 'running' : 'exited';
};

const notRunning = (hostId: string): AppError =>
  new AppError('not_found', `the container of ${hostId} does not run`);

/** A driver of one installation's hosts on an engine. */
export const createDockerDriver = (options: DockerDriverOptions): Driver => {
  const { installation, engine, log } = options;
  const { docker, streams } = engine;

  /** The host's container with all the engine knows of it; undefined when there is none of ours. */
  const inspect = async (hostId: string): Promise<Docker.ContainerInspectInfo | undefined> => {
    try {
      const found = await docker.getContainer(containerName(hostId)).inspect();
      return ownerOf(found.Config.Labels)?.installation === installation ? found : undefined;
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw engineRefusal(`looking at the container of ${hostId}`, error);
    }
  };

  /** Creates the container; false when there is one by its name. */
  const create = async (request: Docker.ContainerCreateOptions): Promise<boolean> => {
    try {
      await docker.createContainer(request);
      return true;
    } catch (error) {
      if (isStatus(error, 409)) return false;
      throw engineRefusal(`creating ${request.name} from ${options.image}`, error);
    }
  };

  const start = async (hostId: string): Promise<void> => {
    try {
      await docker.getContainer(containerName(hostId)).start();
    } catch (error) {
      throw engineRefusal(`starting the container of ${hostId}`, error);
    }
  };

  const fence = async (hostId: string, containerId: string): Promise<void> => {
    try {
      const destination = destinationOf(options.host.controlUrl, machineName);
      await raiseFence(docker.getContainer(containerId), destination);
    } catch (error) {
      if (isStatus(error, 404, 409)) throw notRunning(hostId);
      throw engineRefusal(`fencing the container of ${hostId}`, error);
    }
  };

  const adopt = async (hostId: string): Promise<Launched> => {
    const found = await inspect(hostId);
    const address = found === undefined ? undefined : addressOf(found);
    if (found === undefined || address === undefined) throw notRunning(hostId);
    await fence(hostId, found.Id);
    return { runtimeId: found.Id, address };
  };

  const describe = async (found: Docker.ContainerInfo): Promise<Container[]> => {
    const owner = ownerOf(found.Labels);
    if (owner === undefined) return [];
    const { hostId } = owner;
    const phase = phaseOf(found.State);
    const container = { hostId, phase, outdated: found.Image !== options.image };
    if (phase !== 'exited') return [container];
    const inspected = await inspect(hostId);
    return inspected === undefined ? [] : [{ ...container, exit: exitOf(inspected) }];
  };

  return {
    runtime: 'docker',
    async prepare(onProgress) {
      onProgress(`Docker engine ${engine.version} at ${engine.address}`);
      await options.makeImage?.(onProgress);
      const gateway = await ensureNetwork(docker, installation);
      return { ...meetingPoint(gateway), image: options.image };
    },
    async list() {
      const label = [`${labelNames.installation}=${installation}`];
      const found = await docker.listContainers({ all: true, filters: { label } });
      return (await Promise.all(found.map(describe))).flat();
    },
    async launch(spec) {
      if (await create(containerRequest(spec, options))) await start(spec.hostId);
      else if ((await inspect(spec.hostId))?.State.Status === 'created') await start(spec.hostId);
      return adopt(spec.hostId);
    },
    adopt,
    async destroy(hostId) {
      const found = await inspect(hostId);
      if (found === undefined) return;
      try {
        await docker.getContainer(found.Id).remove({ force: true, v: true });
      } catch (error) {
        // 409: another removal of it is under way.
        if (!isStatus(error, 404, 409)) {
          throw engineRefusal(`removing the container of ${hostId}`, error);
        }
      }
    },
    async logs(hostId) {
      const found = await inspect(hostId);
      if (found === undefined) return '';
      const options = { stdout: true, stderr: true, tail: logLines, follow: false } as const;
      return readFrames(await docker.getContainer(found.Id).logs(options));
    },
    watch: (onChange) => watchContainers(streams, installation, onChange, log),
    dismantle: () => removeNetwork(docker, installation),
  };
};

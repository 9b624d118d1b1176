/**
 * Runs hosts as Docker containers. A host's container has a name that nothing else can take and labels that identify
 * its installation. Its network rules are loaded before the driver reports the host's address, so before any code of a
 * world can run in it.
 */

import { AppError } from '#domain/error.ts';
import { own } from '#domain/json.ts';
import type { Log } from '#runtime/log.ts';
import { type Engine, engineRefusal, isStatus } from '../../engine/engine.ts';
import { pullImage } from '../../images/image.ts';
import { type ContainerSettings, imageOf } from '../container-host.ts';
import type { Driver, Launched, LaunchSpec, PrepareOptions } from '../driver.ts';
import { containerName, labelsOf } from '../labels.ts';
import { addressing, addressOf, containerDigest, containerRequest } from './container.ts';
import { createContainers, type FoundContainer } from './containers.ts';
import { watchContainers } from './events.ts';
import { createFences, destinationOf } from './fence.ts';
import { requireIsolation } from './isolation.ts';
import { ensureNetwork, machineName, meetingPoint, removeNetwork } from './network.ts';

export type DockerDriverOptions = ContainerSettings & {
  engine: Engine;
  /** Builders of the images of this tree, by image name; images without an entry are pulled if missing. */
  makers: Readonly<Partial<Record<string, (options: PrepareOptions) => Promise<void>>>>;
  log: Log;
};

/** Creates the driver of one installation's hosts on an engine. */
export const createDockerDriver = (options: DockerDriverOptions): Driver => {
  const { installation, engine, images, makers, log } = options;
  const { docker, streams } = engine;
  const fences = createFences(docker, log);
  const containers = createContainers(docker, installation, fences);

  const isRunning = async (id: string): Promise<boolean> =>
    (await docker.getContainer(id).inspect()).State.Running;

  const fence = async ({ owner, info }: FoundContainer): Promise<void> => {
    try {
      const destination = destinationOf(options.host.controlUrl, machineName);
      const target = { id: info.Id, name: containerName(owner.hostId) };
      const labels = labelsOf(owner, 'fence');
      await fences.raise({ image: info.Image, labels, target, destination });
    } catch (error) {
      // If the host has ended meanwhile, it needs no rules; the next listing reports how it ended.
      if (isStatus(error, 409) && !(await isRunning(info.Id))) return;
      throw engineRefusal('fencing the container', error);
    }
  };

  const adoptFound = async (found: FoundContainer | undefined): Promise<Launched> => {
    const address = found === undefined ? undefined : addressOf(found.info);
    if (found === undefined || address === undefined) {
      throw new AppError('not_found', 'the container does not run');
    }
    await fence(found);
    return { runtimeId: found.info.Id, address };
  };

  /** Returns the launch result of a container that was started just now. */
  const adoptNew = async (hostId: string): Promise<Launched> => {
    const found = await containers.find(hostId);
    // A container that has ended has no address; the next listing reports how it ended.
    if (found?.info.State.Status === 'exited') return { runtimeId: found.info.Id };
    return adoptFound(found);
  };

  const bringImage = (wanted: string, preparing: PrepareOptions): Promise<void> =>
    own(makers, wanted)?.(preparing) ?? pullImage(engine, wanted, preparing);

  /** Pulls and builds in progress, by image, so that concurrent launches share one. */
  const onTheirWay = new Map<string, Promise<void>>();

  const awaitImage = async (wanted: string): Promise<void> => {
    const { signal } = new AbortController();
    const onProgress = (line: string): void => log.info({ image: wanted }, line);
    const coming = onTheirWay.get(wanted) ?? bringImage(wanted, { onProgress, signal });
    onTheirWay.set(wanted, coming);
    try {
      await coming;
    } finally {
      onTheirWay.delete(wanted);
    }
  };

  /** Creates a host's container, getting its image first if missing; returns false when the container exists. */
  const create = async (spec: LaunchSpec): Promise<boolean> => {
    const request = containerRequest(spec, options);
    const first = await containers.create(request);
    if (first !== 'no image') return first === 'made';
    await awaitImage(imageOf(spec.shape, options));
    return (await containers.create(request)) === 'made';
  };

  return {
    runtime: 'docker',
    addressing,
    // Much of a launch is the engine's own work, which leaves processors idle.
    startsAtOnce: () => Math.max(2, engine.cores),
    digestOf: (shape) => containerDigest(shape, options),
    async prepare(preparing) {
      preparing.onProgress(`Docker engine ${engine.version} at ${engine.address}`);
      for (const kind of preparing.kinds ?? ['world']) await bringImage(images[kind], preparing);
      const gateway = await ensureNetwork(docker, installation);
      return { ...(await meetingPoint(gateway)), image: images.world };
    },
    list: () => containers.list(),
    async launch(spec) {
      await requireIsolation(docker, spec.shape.isolation);
      const isNew = await create(spec);
      const found = isNew ? undefined : await containers.find(spec.hostId);
      if (!isNew && found === undefined) {
        const name = containerName(spec.hostId);
        throw new AppError('unavailable', `another installation has a container named ${name}`);
      }
      if (isNew || found?.info.State.Status === 'created') {
        await containers.start(spec.hostId, spec.token.reveal());
      }
      return adoptNew(spec.hostId);
    },
    adopt: async (hostId) => adoptFound(await containers.find(hostId)),
    async destroy(hostId) {
      const found = await containers.find(hostId);
      if (found !== undefined) await containers.remove(found.info.Id);
      await containers.removeFences(hostId);
    },
    async logs(hostId) {
      const found = await containers.find(hostId);
      return found === undefined ? '' : containers.logs(found.info.Id);
    },
    watch: (onChange) => watchContainers(streams, installation, onChange, log),
    dismantle: () => removeNetwork(docker, installation),
  };
};

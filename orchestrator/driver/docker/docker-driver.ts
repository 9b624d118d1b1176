/**
 * Runs hosts as Docker containers. A host's container has a name that no other container can have, and labels that
 * identify its installation. Its network rules are loaded before the driver reports the host's address, so before any
 * code of a world can run in it.
 */

import { AppError } from '#domain/error.ts';
import type { HostShape } from '#pools/pool-config.ts';
import { engineRefusal, isStatus } from '../../engine/engine.ts';
import { type ContainerSettings, imageOf } from '../container-host.ts';
import type {
  Container,
  Driver,
  Launched,
  LaunchSpec,
  Prepared,
  PrepareOptions,
  Watch,
} from '../driver.ts';
import { containerName, labelsOf } from '../labels.ts';
import { addressing, addressOf, containerDigest, containerRequest } from './container.ts';
import { type Containers, createContainers, type FoundContainer } from './containers.ts';
import { watchContainers } from './events.ts';
import { createFirewall, destinationOf, type Firewall } from './firewall.ts';
import { HostImages, type HostImagesOptions } from './host-images.ts';
import { requireIsolation } from './isolation.ts';
import { ensureNetwork, machineName, meetingPoint, removeNetwork } from './network.ts';

export type DockerDriverOptions = ContainerSettings & HostImagesOptions;

/** Driver of one installation's hosts on an engine. */
export class DockerDriver implements Driver {
  readonly runtime = 'docker';
  readonly addressing = addressing;
  readonly changesAtOnce = 8;
  readonly startingMs = 3_000;
  readonly #options: DockerDriverOptions;
  readonly #firewall: Firewall;
  readonly #containers: Containers;
  readonly #images: HostImages;

  constructor(options: DockerDriverOptions) {
    const { docker } = options.engine;
    this.#options = options;
    this.#firewall = createFirewall(docker, options.log);
    this.#containers = createContainers(docker, options.installation, this.#firewall);
    this.#images = new HostImages(options);
  }

  /**
   * Allows as many starts as the engine has processors: much of a launch is the engine's own work, which leaves
   * processors idle.
   */
  startsAtOnce(): number {
    return Math.max(2, this.#options.engine.cores);
  }

  digestOf(shape: HostShape): string {
    return containerDigest(shape, this.#options);
  }

  async prepare(preparing: PrepareOptions): Promise<Prepared> {
    const { engine, images, installation } = this.#options;
    preparing.onProgress(`Docker engine ${engine.version} at ${engine.address}`);
    for (const kind of preparing.kinds ?? ['world'])
      await this.#images.get(images[kind], preparing);
    const gateway = await ensureNetwork(engine.docker, installation);
    return { ...(await meetingPoint(gateway)), image: images.world };
  }

  list(): Promise<Container[]> {
    return this.#containers.list();
  }

  async launch(spec: LaunchSpec): Promise<Launched> {
    await requireIsolation(this.#options.engine.docker, spec.shape.isolation);
    const isNew = await this.#create(spec);
    const found = isNew ? undefined : await this.#containers.find(spec.hostId);
    if (!isNew && found === undefined) {
      const name = containerName(spec.hostId);
      throw new AppError('unavailable', `another installation has a container named ${name}`);
    }
    if (isNew || found?.info.State.Status === 'created') {
      await this.#containers.start(spec.hostId, spec.token.reveal());
    }
    return this.#adoptNew(spec.hostId);
  }

  async adopt(hostId: string): Promise<Launched> {
    return this.#adoptFound(await this.#containers.find(hostId));
  }

  async destroy(hostId: string): Promise<void> {
    const found = await this.#containers.find(hostId);
    if (found !== undefined) await this.#containers.remove(found.info.Id);
    await this.#containers.removeLoaders(hostId);
  }

  async logs(hostId: string): Promise<string> {
    const found = await this.#containers.find(hostId);
    return found === undefined ? '' : this.#containers.logs(found.info.Id);
  }

  watch(onChange: () => void): Watch {
    const { engine, installation, log } = this.#options;
    return watchContainers(engine.streams, installation, onChange, log);
  }

  dismantle(): Promise<void> {
    const { engine, installation } = this.#options;
    return removeNetwork(engine.docker, installation);
  }

  /** Creates a host's container, getting its image first if missing; returns false when the container exists. */
  async #create(spec: LaunchSpec): Promise<boolean> {
    const request = containerRequest(spec, this.#options);
    const first = await this.#containers.create(request);
    if (first !== 'no image') return first === 'made';
    await this.#images.getForLaunch(imageOf(spec.shape, this.#options));
    return (await this.#containers.create(request)) === 'made';
  }

  /** Returns the launch result of a container that was started just now. */
  async #adoptNew(hostId: string): Promise<Launched> {
    const found = await this.#containers.find(hostId);
    // A container that has ended has no address; the next listing reports how it ended.
    if (found?.info.State.Status === 'exited') return { runtimeId: found.info.Id };
    return this.#adoptFound(found);
  }

  async #adoptFound(found: FoundContainer | undefined): Promise<Launched> {
    const address = found === undefined ? undefined : addressOf(found.info);
    if (found === undefined || address === undefined) {
      throw new AppError('not_found', 'the container does not run');
    }
    await this.#loadFirewall(found);
    return { runtimeId: found.info.Id, address };
  }

  /** Loads the network rules of a container. */
  async #loadFirewall({ owner, info }: FoundContainer): Promise<void> {
    try {
      const destination = destinationOf(this.#options.host.controlUrl, machineName);
      const target = { id: info.Id, name: containerName(owner.hostId) };
      const labels = labelsOf(owner, 'fence');
      await this.#firewall.load({ image: info.Image, labels, target, destination });
    } catch (error) {
      // If the host has ended meanwhile, it needs no rules; the next listing reports how it ended.
      if (isStatus(error, 409) && !(await this.#isRunning(info.Id))) return;
      throw engineRefusal('loading the network rules of the container', error);
    }
  }

  async #isRunning(id: string): Promise<boolean> {
    return (await this.#options.engine.docker.getContainer(id).inspect()).State.Running;
  }
}

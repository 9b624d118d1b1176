/**
 * Loads a container's firewall rules (firewall.nft) from inside its network namespace: egress only to the control plane,
 * ingress only to the API server. Loading the rules again replaces them in one step.
 *
 * The host's container has no capability to load or remove rules. A second container joins its network namespace,
 * loads the rules and exits after some milliseconds, while the host is still starting. It takes `nft` from the host's
 * image and the rules from here. See docs/internals/adr/0003-fence-hosts-from-inside.md.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { isStatus } from '../../engine/engine.ts';
import { readFrames } from '../../engine/frames.ts';

const rules = readFileSync(join(import.meta.dirname, 'firewall.nft'), 'utf8');
const done = 'fenced';
const memoryBytes = 64 * 1024 * 1024;

/** Egress destination of a host: an IPv4 address, or a name in the container's hosts file. */
export type Destination = { host: string; port: number };

export type FirewallOptions = {
  image: string;
  /** Labels of the container that loads the rules. */
  labels: Record<string, string>;
  /** Container that gets the rules, by id and name. */
  target: { id: string; name: string };
  destination: Destination;
};

/** Returns where hosts reach the control plane. Throws `invalid` for a name that no container resolves. */
export const destinationOf = (controlUrl: string, machineName: string): Destination => {
  const { hostname, port, protocol } = new URL(controlUrl);
  if (!isIPv4(hostname) && hostname !== machineName) {
    throw new AppError(
      'invalid',
      `hosts on Docker reach the control plane by an IPv4 address or ${machineName}, not "${hostname}"`,
    );
  }
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
};

const loaderRequest = (
  options: FirewallOptions,
): Docker.ContainerCreateOptions & { name: string } => {
  const { target, destination } = options;
  const { host, port } = destination;
  const definitions = ['-D', `control_host=${host}`, '-D', `control_port=${port}`];
  return {
    // The engine removes the container a moment after its end; a random suffix lets the next one start meanwhile.
    name: `${target.name}-fence-${randomBytes(4).toString('hex')}`,
    Image: options.image,
    Labels: options.labels,
    User: '0:0',
    Env: [`RULES=${rules}`],
    Cmd: [
      ...['sh', '-c', `printf %s "$RULES" | nft "$@" -f - && echo ${done}`],
      ...['sh', ...definitions],
    ],
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      AutoRemove: true,
      NetworkMode: `container:${target.id}`,
      CapDrop: ['ALL'],
      CapAdd: ['NET_ADMIN'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      Memory: memoryBytes,
      PidsLimit: 16,
      LogConfig: { Type: 'none', Config: {} },
    },
  };
};

export type Firewall = {
  /** Loads the rules of a running container. Throws `unavailable` with the output of nft. */
  load(options: FirewallOptions): Promise<void>;
  /**
   * Returns true if a rules container was created and never started, and this process is not about to start it. That
   * means that its orchestrator ended in between; the engine removes a container by itself only after it has started.
   */
  isLeftover(info: Docker.ContainerInfo): boolean;
};

/** Creates the loader of firewall rules of one orchestrator. */
export const createFirewall = (docker: Docker, log: Log): Firewall => {
  /** Names of the rules containers that are in progress. */
  const inProgress = new Set<string>();

  const start = async (container: Docker.Container): Promise<NodeJS.ReadableStream> => {
    try {
      const output = await container.attach({ stream: true, stdout: true, stderr: true });
      await container.start();
      return output;
    } catch (error) {
      // The engine does not remove a container that never started. If this removal fails too, the next listing repeats
      // it.
      await container.remove({ force: true }).catch((err: unknown) => {
        // 404: it is gone; 409: another removal is in progress.
        if (!isStatus(err, 404, 409))
          log.warn(
            { err, container: container.id },
            'a leftover container for network rules could not be removed',
          );
      });
      throw error;
    }
  };

  return {
    async load(options) {
      const request = loaderRequest(options);
      inProgress.add(request.name);
      try {
        const output = await start(await docker.createContainer(request));
        const text = readFrames(await buffer(output)).trim();
        if (text !== done) {
          const why = text || 'nft gave no output';
          throw new AppError(
            'unavailable',
            `the network rules of the host cannot be loaded: ${why}`,
          );
        }
      } finally {
        inProgress.delete(request.name);
      }
    },
    isLeftover: ({ State, Names }) =>
      State === 'created' && !Names.some((name) => inProgress.has(name.replace(/^\//, ''))),
  };
};

/**
 * Fences a container from inside its own network namespace, with the rules of fence.nft: out only to the
 * control plane, in only to the API server. Loading the rules again replaces them in one step.
 *
 * The host's container has no capability to do that, or to undo it. A second container, gone after some
 * milliseconds, joins its network namespace alone and loads the rules; it runs while the host is still
 * starting. It has `nft` from the host's image and the rules from here. See docs/internals/adr/0003-fence-hosts-from-inside.md.
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

const rules = readFileSync(join(import.meta.dirname, 'fence.nft'), 'utf8');
const done = 'fenced';
const memoryBytes = 64 * 1024 * 1024;

/** What a host may reach: an IPv4 address or a name that the container's hosts file holds. */
export type Destination = { host: string; port: number };

export type FenceOptions = {
  image: string;
  /** Whose the container that loads the rules is. */
  labels: Record<string, string>;
  /** The container to fence: its id and its name. */
  target: { id: string; name: string };
  destination: Destination;
};

/** Where the control plane is for hosts. Throws `invalid` for a name that no container would know. */
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

const fenceRequest = (options: FenceOptions): Docker.ContainerCreateOptions & { name: string } => {
  const { target, destination } = options;
  const { host, port } = destination;
  const definitions = ['-D', `control_host=${host}`, '-D', `control_port=${port}`];
  return {
    // Its removal goes on for a moment after its end; the next one must not wait for the name.
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

export type Fences = {
  /** Puts up the fence of a running container. Throws `unavailable` with what nft said. */
  raise(options: FenceOptions): Promise<void>;
  /**
   * Whether a container that loads rules was made and never started, and is nobody's work under way:
   * its orchestrator ended in between, and only what has started is removed by the engine at its end.
   */
  isLeft(info: Docker.ContainerInfo): boolean;
};

/** The fences that one orchestrator puts up. */
export const createFences = (docker: Docker, log: Log): Fences => {
  /** The names of the containers that are on their way. */
  const underWay = new Set<string>();

  const start = async (container: Docker.Container): Promise<NodeJS.ReadableStream> => {
    try {
      const output = await container.attach({ stream: true, stdout: true, stderr: true });
      await container.start();
      return output;
    } catch (error) {
      // What has not started is not removed at its end. Where this fails too, the next listing does it.
      await container.remove({ force: true }).catch((err: unknown) => {
        // 404: it is gone; 409: it is being removed.
        if (!isStatus(err, 404, 409)) log.warn({ err, container: container.id }, 'not removed');
      });
      throw error;
    }
  };

  return {
    async raise(options) {
      const request = fenceRequest(options);
      underWay.add(request.name);
      try {
        const output = await start(await docker.createContainer(request));
        const said = readFrames(await buffer(output)).trim();
        if (said !== done) {
          const why = said || 'nft said nothing';
          throw new AppError('unavailable', `the host cannot be fenced: ${why}`);
        }
      } finally {
        underWay.delete(request.name);
      }
    },
    isLeft: ({ State, Names }) =>
      State === 'created' && !Names.some((name) => underWay.has(name.replace(/^\//, ''))),
  };
};

/**
 * Fences a container from inside its own network namespace, with the rules of
 * world-host-image/fence.nft: out only to the control plane, in only to the API server. Loading the
 * rules again replaces them in one step.
 *
 * The rules are loaded by a root process that the engine starts in the container for a moment. It has
 * NET_ADMIN, which the host's own processes can never gain: see docs/adr/0003-fence-hosts-from-inside.md.
 */
import { isIPv4 } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { AppError } from '#domain/error.ts';
import { readFrames } from './frames.ts';

/** The capability that loading the rules needs; the container's processes cannot use it. */
export const fenceCapability = 'NET_ADMIN';

const rulesFile = '/opt/svc/world-host-image/fence.nft';

/** What a host may reach: an IPv4 address or a name that the container's hosts file holds. */
export type Destination = { host: string; port: number };

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

/** Puts up the fence of a running container. Throws `unavailable` with what nft or the engine said. */
export const raiseFence = async (
  container: Docker.Container,
  { host, port }: Destination,
): Promise<void> => {
  const exec = await container.exec({
    Cmd: ['nft', '-D', `control_host=${host}`, '-D', `control_port=${port}`, '-f', rulesFile],
    User: '0:0',
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream: Duplex = await exec.start({ hijack: true, stdin: false });
  const said = readFrames(await buffer(stream));
  const { ExitCode: status } = await exec.inspect();
  if (status !== 0) {
    throw new AppError(
      'unavailable',
      `the host cannot be fenced: nft ended with ${status}: ${said.trim()}`,
    );
  }
};

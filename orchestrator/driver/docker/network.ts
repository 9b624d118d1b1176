/**
 * The network of an installation's hosts: a bridge of its own on which containers cannot reach one another and get no
 * address translation to the outside. That alone does not stop packets; each container's own firewall rules do
 * (firewall.ts).
 */
import type Docker from 'dockerode';
import { AppError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import { isStatus } from '../../engine/engine.ts';
import { labelNames } from '../labels.ts';
import { isOurs } from '../own-address.ts';

/** Name by which containers reach the machine when the engine runs in a virtual machine. */
export const machineName = 'host.docker.internal';

export const networkName = (installation: string): string => `svc-${installation}`;

const readGateway = async (docker: Docker, name: string): Promise<string | undefined> => {
  try {
    const { IPAM } = await docker.getNetwork(name).inspect();
    return IPAM?.Config?.[0]?.Gateway;
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
};

const createNetwork = async (docker: Docker, installation: string): Promise<void> => {
  try {
    await docker.createNetwork({
      Name: networkName(installation),
      Driver: 'bridge',
      CheckDuplicate: true,
      Labels: { [labelNames.installation]: installation },
      Options: {
        'com.docker.network.bridge.enable_icc': 'false',
        'com.docker.network.bridge.enable_ip_masquerade': 'false',
      },
    });
  } catch (error) {
    if (!isStatus(error, 409)) throw error; // another orchestrator has just created it
  }
};

/** Creates the network unless it exists; returns the machine's address on it. */
export const ensureNetwork = async (docker: Docker, installation: string): Promise<string> => {
  const name = networkName(installation);
  const existing = await readGateway(docker, name);
  if (existing !== undefined) return existing;
  await createNetwork(docker, installation);
  const gateway = await readGateway(docker, name);
  if (gateway === undefined) {
    throw new AppError('unavailable', `the Docker network ${name} has no gateway address`);
  }
  return gateway;
};

/**
 * Maximum number of attempts to remove a network while its containers are being removed, and the interval between
 * attempts in milliseconds.
 */
const removals = { most: 20, everyMs: 250 };

/** Removes the network, if it exists. Throws the engine's reason. */
export const removeNetwork = async (docker: Docker, installation: string): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await docker.getNetwork(networkName(installation)).remove();
      return;
    } catch (error) {
      if (isStatus(error, 404)) return;
      // 403: a container is still connected.
      if (!isStatus(error, 403) || tries === removals.most) throw error;
      await pause(removals.everyMs);
    }
  }
};

/**
 * Returns how the control plane and hosts reach each other. With an engine on this machine, the bridge is one of its
 * interfaces and the control plane listens there. An engine in a virtual machine (Docker Desktop) forwards its own
 * name for the machine to loopback.
 */
export const meetingPoint = async (
  gateway: string,
): Promise<{ listen: string | null; host: string }> =>
  (await isOurs(gateway))
    ? { listen: gateway, host: gateway }
    : { listen: null, host: machineName };

/**
 * The network of an installation's hosts: a bridge of their own on which containers do not reach one
 * another and are not translated to outside addresses. That alone does not keep packets in; each
 * container's own fence does (fence.ts).
 */
import type Docker from 'dockerode';
import { AppError } from '#domain/error.ts';
import { pause } from '#runtime/pause.ts';
import { isStatus } from '../../engine/engine.ts';
import { labelNames } from '../labels.ts';
import { isOurs } from '../own-address.ts';

/** The name under which containers know the machine when the engine runs in a virtual one. */
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
    if (!isStatus(error, 409)) throw error; // another orchestrator has just made it
  }
};

/** Makes the network unless it is there; answers the machine's address on it. */
export const ensureNetwork = async (docker: Docker, installation: string): Promise<string> => {
  const name = networkName(installation);
  const existing = await readGateway(docker, name);
  if (existing !== undefined) return existing;
  await createNetwork(docker, installation);
  const gateway = await readGateway(docker, name);
  if (gateway === undefined) {
    throw new AppError('unavailable', `Docker gave network ${name} no gateway address`);
  }
  return gateway;
};

/** How often, and how far apart, a network is tried that containers stand on which are being removed. */
const removals = { most: 20, everyMs: 250 };

/** Removes the network; one that is not there is as good. Throws the engine's reason. */
export const removeNetwork = async (docker: Docker, installation: string): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await docker.getNetwork(networkName(installation)).remove();
      return;
    } catch (error) {
      if (isStatus(error, 404)) return;
      // 403: somebody is on it still.
      if (!isStatus(error, 403) || tries === removals.most) throw error;
      await pause(removals.everyMs);
    }
  }
};

/**
 * How the control plane and hosts meet. With an engine on this machine, the bridge is one of its
 * interfaces and the control plane listens there; an engine in a virtual machine (Docker Desktop)
 * forwards its own name for the machine to loopback.
 */
export const meetingPoint = async (
  gateway: string,
): Promise<{ listen: string | null; host: string }> =>
  (await isOurs(gateway))
    ? { listen: gateway, host: gateway }
    : { listen: null, host: machineName };

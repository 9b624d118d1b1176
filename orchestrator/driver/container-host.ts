/**
 * Describes a host in a container, in the terms that Docker and Kubernetes share: image, user, environment, labels,
 * scratch space and the shared folder of snapshots. Each driver puts this into the format of its runtime, and adds
 * what only that runtime has.
 */
import type { HostKind } from '#domain/host.ts';
import { containerApiPort, type HostAddressing } from '#domain/host-address.ts';
import { type HostShape, kindOf } from '#pools/pool-config.ts';
import type { LaunchSpec } from './driver.ts';
import {
  browserEnvironment,
  type HostSettings,
  hostEnvironment,
  type RuntimeSettings,
  type SharedSnapshots,
} from './host-environment.ts';
import { labelsOf } from './labels.ts';

/** Settings that all containers of an installation share. */
export type ContainerSettings = {
  installation: string;
  /** Images for hosts, by kind, of pools that name no image. */
  images: Readonly<Record<HostKind, string>>;
  host: HostSettings;
};

/** Number of the user, and of the group, that a host runs as. */
export const hostUserId = 10_001;

/** Path in a container of the folder that hosts of one machine share. */
export const sharedFolder = '/snapshots';

/** Returns the image for a host of this shape. */
export const imageOf = (shape: HostShape, { images }: Pick<ContainerSettings, 'images'>): string =>
  shape.image ?? images[kindOf(shape)];

/**
 * Returns the scratch space of a container, in MiB. Its contents count towards the container's memory, and snapshots
 * may fill a part of it.
 */
export const scratchMb = (memoryMb: number): number => Math.ceil(memoryMb / 2);

/**
 * Returns the folder of snapshots that a container shares with others; undefined for a browser, and for a container
 * with a kernel of its own. Such a kernel does not see the locks of other containers, so it would take the owners of
 * those locks for dead.
 */
export const sharedSnapshotsOf = (
  shape: HostShape,
  { sharedSnapshots }: HostSettings,
): SharedSnapshots | undefined =>
  kindOf(shape) === 'world' && shape.isolation === 'container' ? sharedSnapshots : undefined;

/** Returns where a world host keeps snapshots: in the shared folder, else in its scratch space. */
const snapshotsOf = (shape: HostShape, settings: HostSettings): RuntimeSettings['snapshots'] => {
  const shared = sharedSnapshotsOf(shape, settings);
  return shared === undefined
    ? {
        folder: '/tmp/snapshots',
        mb: Math.max(1, Math.floor(scratchMb(shape.size.memoryMb) * 0.9)),
      }
    : { folder: sharedFolder, mb: shared.mb };
};

/** Differences between the runtimes in what a host in a container is started with. */
export type ContainerPlace = {
  /** IP address that the host listens on, as text or as a reference to a variable. */
  listenIp: string;
  addressing: HostAddressing;
  /** File from which the host reads its token; `-` is its standard input. */
  tokenFile: string;
  /**
   * File that outlives the host's process, for the number of the ledger's last entry; absent if the runtime has none.
   */
  ledgerMark?: string;
};

/** Builds the environment of a host. A browser reaches the surfaces of its session through the control plane. */
export const containerEnvironment = (
  spec: LaunchSpec,
  host: HostSettings,
  { listenIp, addressing, tokenFile, ...mark }: ContainerPlace,
): Record<string, string> => {
  const place = {
    listen: `${listenIp}:${containerApiPort}`,
    addressing,
    workDir: '/tmp/work',
    tokenFile,
  };
  const environment =
    kindOf(spec.shape) === 'browser'
      ? browserEnvironment(spec, host, { ...place, route: 'tunnel' })
      : hostEnvironment(spec, host, {
          ...place,
          ...mark,
          snapshots: snapshotsOf(spec.shape, host),
          python: 'python3',
          namespaces: ['pid', 'ipc', 'mount', 'net'],
        });
  return { HOME: '/tmp', TMPDIR: '/tmp', ...environment };
};

/** Returns the labels of a host's container. */
export const containerLabels = (
  { hostId, shape }: Pick<LaunchSpec, 'hostId' | 'shape'>,
  installation: string,
  digest: string,
): Record<string, string> =>
  labelsOf({ installation, pool: shape.pool, hostId, digest }, 'host', kindOf(shape));

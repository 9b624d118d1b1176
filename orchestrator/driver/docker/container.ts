/**
 * The container of a world host, as Docker is asked for it: one unprivileged user, a read-only root, no
 * capability, bounded memory, processors, processes, files, output and scratch space.
 */
import type Docker from 'dockerode';
import { containerApiPort as apiPort } from '#domain/host-address.ts';
import { type HostShape, type HostSize, offerOf } from '#pools/pool-config.ts';
import { digestOf } from '../digest.ts';
import type { LaunchSpec } from '../driver.ts';
import {
  type HostSettings,
  hostEnvironment,
  scratchMb,
  sharedFolder,
  sharedSnapshotsOf,
  snapshotsOf,
} from '../host-environment.ts';
import { containerName, labelsOf } from '../labels.ts';
import { runtimeOf } from './isolation.ts';
import { machineName, networkName } from './network.ts';

const userId = '10001:10001';
const mebibyte = 1024 * 1024;
/**
 * The time over which processor use is bounded. Longer than Docker's tenth of a second: a host starts
 * several processes at once, and being stopped for the rest of each period would cost it 100 ms.
 */
const cpuPeriodUs = 500_000;

const openFiles = 16_384;

/** What every container of an installation has in common. */
export type ContainerSettings = {
  installation: string;
  /** What hosts run whose pool names no image. */
  image: string;
  host: HostSettings;
};

/** What a host of this shape runs. */
export const imageOf = ({ image }: HostShape, settings: ContainerSettings): string =>
  image ?? settings.image;

const limitsOf = (limits: HostSize): Docker.HostConfig => ({
  ReadonlyRootfs: true,
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges'],
  IpcMode: 'private',
  Tmpfs: { '/tmp': `rw,nosuid,nodev,mode=1777,size=${scratchMb(limits.memoryMb)}m` },
  ShmSize: 16 * mebibyte,
  Memory: limits.memoryMb * mebibyte,
  MemorySwap: limits.memoryMb * mebibyte,
  CpuPeriod: cpuPeriodUs,
  CpuQuota: Math.round(limits.cpus * cpuPeriodUs),
  PidsLimit: limits.pids,
  Ulimits: [
    { Name: 'nofile', Soft: openFiles, Hard: openFiles },
    { Name: 'core', Soft: 0, Hard: 0 },
  ],
  LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
});

/** The engine refuses a mount whose folder is not there: made by the engine, it would be of no use to the host. */
const mountsOf = (shape: HostShape, { host }: ContainerSettings): Docker.MountSettings[] => {
  const shared = sharedSnapshotsOf(shape, host);
  return shared === undefined ? [] : [{ Type: 'bind', Source: shared.path, Target: sharedFolder }];
};

/** What a container of this shape is made from. */
export const containerDigest = (shape: HostShape, settings: ContainerSettings): string =>
  digestOf([
    imageOf(shape, settings),
    offerOf(shape),
    limitsOf(shape.size),
    ...mountsOf(shape, settings),
  ]);

/** The request that creates the container of a host. */
export const containerRequest = (
  spec: LaunchSpec,
  settings: ContainerSettings,
): Docker.ContainerCreateOptions => {
  const { installation, host } = settings;
  const { hostId, shape } = spec;
  const digest = containerDigest(shape, settings);
  const runtime = runtimeOf(shape.isolation);
  const runtimeSettings = {
    listen: `0.0.0.0:${apiPort}`,
    reportsAddress: false,
    workDir: '/tmp/work',
    snapshots: snapshotsOf(shape, host),
    tokenFile: '-',
    python: 'python3',
    namespaces: ['pid', 'ipc', 'mount', 'net'],
  };
  const isNamed = new URL(host.controlUrl).hostname === machineName;
  return {
    name: containerName(spec.hostId),
    Image: imageOf(shape, settings),
    User: userId,
    // Its token comes this way, once: nothing that can be looked at holds it.
    OpenStdin: true,
    StdinOnce: true,
    Env: Object.entries({
      HOME: '/tmp',
      TMPDIR: '/tmp',
      ...hostEnvironment(spec, host, runtimeSettings),
    }).map(([name, value]) => `${name}=${value}`),
    Labels: labelsOf({ installation, pool: shape.pool, hostId, digest }, 'host'),
    ExposedPorts: { [`${apiPort}/tcp`]: {} },
    HostConfig: {
      ...limitsOf(shape.size),
      Mounts: mountsOf(shape, settings),
      Init: true,
      RestartPolicy: { Name: 'no' },
      NetworkMode: networkName(installation),
      PortBindings: { [`${apiPort}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: '' }] },
      ...(runtime === undefined ? {} : { Runtime: runtime }),
      ...(isNamed ? { ExtraHosts: [`${machineName}:host-gateway`] } : {}),
    },
  };
};

const addressAt = (port: string | number): string => `http://127.0.0.1:${port}`;

/** Base address of the API server of a running container. */
export const addressOf = (inspected: Docker.ContainerInspectInfo): string | undefined => {
  const port = inspected.NetworkSettings.Ports[`${apiPort}/tcp`]?.[0]?.HostPort;
  return port === undefined ? undefined : addressAt(port);
};

/** The same as a listing has it; null while the engine publishes no port of the container. */
export const listedAddress = ({ Ports }: Docker.ContainerInfo): string | null => {
  const published = Ports.find(
    ({ PrivatePort, PublicPort }) => PrivatePort === apiPort && PublicPort !== undefined,
  );
  return published === undefined ? null : addressAt(published.PublicPort);
};

/**
 * The container of a host, as Docker is asked for it: one unprivileged user, a read-only root, no
 * capability, bounded memory, processors, processes, files, output and scratch space. A browser's has a filter of
 * system calls of its own, with which Chromium can part its pages from itself.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import type { HostKind } from '#domain/host.ts';
import { containerApiPort as apiPort } from '#domain/host-address.ts';
import { type HostShape, kindOf, offerOf } from '#pools/pool-config.ts';
import { digestOf } from '../digest.ts';
import type { LaunchSpec } from '../driver.ts';
import {
  browserEnvironment,
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
  /** What hosts of a kind run whose pool names no image. */
  images: Readonly<Record<HostKind, string>>;
  host: HostSettings;
};

/** What a host of this shape runs. */
export const imageOf = (shape: HostShape, { images }: Pick<ContainerSettings, 'images'>): string =>
  shape.image ?? images[kindOf(shape)];

/** The system calls of a browser; other kernels than the machine's own have no use for a filter. */
const browserCalls = JSON.stringify(
  JSON.parse(readFileSync(join(import.meta.dirname, 'browser-calls.json'), 'utf8')),
);

const securityOf = (shape: HostShape): string[] => {
  const hasFilter = kindOf(shape) === 'browser' && shape.isolation === 'container';
  return ['no-new-privileges', ...(hasFilter ? [`seccomp=${browserCalls}`] : [])];
};

const limitsOf = (shape: HostShape): Docker.HostConfig => {
  const limits = shape.size;
  return {
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: securityOf(shape),
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
  };
};

/** The engine refuses a mount whose folder is not there: made by the engine, it would be of no use to the host. */
const mountsOf = (shape: HostShape, { host }: ContainerSettings): Docker.MountSettings[] => {
  const shared = kindOf(shape) === 'browser' ? undefined : sharedSnapshotsOf(shape, host);
  return shared === undefined ? [] : [{ Type: 'bind', Source: shared.path, Target: sharedFolder }];
};

/** What a container of this shape is made from. */
export const containerDigest = (shape: HostShape, settings: ContainerSettings): string =>
  digestOf([
    imageOf(shape, settings),
    offerOf(shape),
    limitsOf(shape),
    ...mountsOf(shape, settings),
  ]);

const environmentOf = (spec: LaunchSpec, host: HostSettings): Record<string, string> => {
  const place = {
    listen: `0.0.0.0:${apiPort}`,
    reportsAddress: false,
    workDir: '/tmp/work',
    tokenFile: '-',
  };
  // World hosts are published on the machine's loopback, which no container reaches.
  if (kindOf(spec.shape) === 'browser') {
    return browserEnvironment(spec, host, { ...place, way: 'tunnel' });
  }
  return hostEnvironment(spec, host, {
    ...place,
    snapshots: snapshotsOf(spec.shape, host),
    python: 'python3',
    namespaces: ['pid', 'ipc', 'mount', 'net'],
  });
};

/** The request that creates the container of a host. */
export const containerRequest = (
  spec: LaunchSpec,
  settings: ContainerSettings,
): Docker.ContainerCreateOptions => {
  const { installation, host } = settings;
  const { hostId, shape } = spec;
  const digest = containerDigest(shape, settings);
  const runtime = runtimeOf(shape.isolation);
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
      ...environmentOf(spec, host),
    }).map(([name, value]) => `${name}=${value}`),
    Labels: labelsOf({ installation, pool: shape.pool, hostId, digest }, 'host', kindOf(shape)),
    ExposedPorts: { [`${apiPort}/tcp`]: {} },
    HostConfig: {
      ...limitsOf(shape),
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

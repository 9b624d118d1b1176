/**
 * Builds Docker's create request for a host's container: one unprivileged user, a read-only root, no capability, and
 * limits on memory, processors, processes, files, output and scratch space. A browser gets a seccomp filter of its
 * own, with which Chromium can sandbox its pages.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { containerApiPort as apiPort } from '#domain/host-address.ts';
import { type HostShape, kindOf, offerOf } from '#pools/pool-config.ts';
import {
  type ContainerSettings,
  containerEnvironment,
  containerLabels,
  hostUserId,
  imageOf,
  scratchMb,
  sharedFolder,
  sharedSnapshotsOf,
} from '../container-host.ts';
import { digestOf } from '../digest.ts';
import type { LaunchSpec } from '../driver.ts';
import { containerName } from '../labels.ts';
import { runtimeOf } from './isolation.ts';
import { machineName, networkName } from './network.ts';

const user = `${hostUserId}:${hostUserId}`;
const mebibyte = 1024 * 1024;
/**
 * Period over which processor use is limited. It is longer than Docker's tenth of a second: a host starts several
 * processes at once, and throttling for the rest of each period would cost it 100 ms.
 */
const cpuPeriodUs = 500_000;

const openFiles = 16_384;

/** Seccomp filter for browsers; isolations with a kernel of their own need none. */
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

/**
 * Returns the mount of the shared snapshot folder, if any. The engine refuses a mount whose folder does not exist: a
 * folder that the engine made would not be writable for the host.
 */
const mountsOf = (shape: HostShape, { host }: ContainerSettings): Docker.MountSettings[] => {
  const shared = sharedSnapshotsOf(shape, host);
  return shared === undefined ? [] : [{ Type: 'bind', Source: shared.path, Target: sharedFolder }];
};

/** Returns the digest of the settings from which a container of this shape is made. */
export const containerDigest = (shape: HostShape, settings: ContainerSettings): string =>
  digestOf([
    imageOf(shape, settings),
    offerOf(shape),
    limitsOf(shape),
    ...mountsOf(shape, settings),
  ]);

/**
 * The engine assigns the address of a host: it publishes the host's port on the machine's loopback, which no container
 * reaches.
 */
export const addressing = 'assigned';

/**
 * Settings of a host that depend on Docker. The host reads its token once from standard input, so that inspecting the
 * container does not reveal the token.
 */
const place = { listenIp: '0.0.0.0', addressing, tokenFile: '-' } as const;

/** Builds the request that creates the container of a host. */
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
    name: containerName(hostId),
    Image: imageOf(shape, settings),
    User: user,
    OpenStdin: true,
    StdinOnce: true,
    Env: Object.entries(containerEnvironment(spec, host, place)).map(
      ([name, value]) => `${name}=${value}`,
    ),
    Labels: containerLabels(spec, installation, digest),
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

/** Returns the base address of a running container's API server; undefined while it has none. */
export const addressOf = (inspected: Docker.ContainerInspectInfo): string | undefined => {
  const port = inspected.NetworkSettings.Ports[`${apiPort}/tcp`]?.[0]?.HostPort;
  return port === undefined ? undefined : addressAt(port);
};

/**
 * Returns the base address of a container's API server from a listing; null while the engine publishes no port of the
 * container.
 */
export const listedAddress = ({ Ports }: Docker.ContainerInfo): string | null => {
  const published = Ports.find(
    ({ PrivatePort, PublicPort }) => PrivatePort === apiPort && PublicPort !== undefined,
  );
  return published === undefined ? null : addressAt(published.PublicPort);
};

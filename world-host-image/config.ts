/** Reads the world host's configuration from its environment variables. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Env, readEnv } from '#runtime/env.ts';
import { type ListenAddress, parseAddress } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import type { Namespace } from './proof/proof.ts';
import { type BoundaryMode, boundaryModes } from './usercode/boundary/boundary.ts';

const namespaces: readonly Namespace[] = ['pid', 'ipc', 'mount', 'net'];

export type HostConfig = {
  /** Base address of the control plane, without a path. */
  controlUrl: string;
  hostId: string;
  /** Generation number that the host was launched with. */
  generation: number;
  /** File that the host's token is read from; `-` is standard input. */
  tokenFile: string;
  /** Address that the API server listens on; port 0 takes any free port. */
  listen: ListenAddress;
  /** True if the host has to report its own address to the control plane, because only the host knows it. */
  reportAddress: boolean;
  /** Folder that the host creates at its start, writes to, and removes at its end. */
  workDir: string;
  /**
   * Folder for unpacked snapshots of large worlds, which other hosts may share, and the maximum size of the folder in
   * bytes.
   */
  snapshots: { folder: string; mostBytes: number };
  /**
   * File in which the host stores the number of the ledger's last entry; undefined if the runtime keeps no such file.
   */
  ledgerMark?: string | undefined;
  /** Command of the Python that runs user code. */
  python: string;
  /** Folders that are searched for commands, in the format of `PATH`. */
  searchPath: string;
  userCode: {
    /** Memory of each worker in MiB, in addition to what the runtime of its language needs. */
    memoryMb: number;
    boundary: BoundaryMode;
  };
  /**
   * Kernel namespaces that the host does not share with other programs. Anything foreign that is found in them counts
   * as left behind by a session.
   */
  namespaces: Namespace[];
  logLevel: LogLevel;
};

/** Returns the folder for user code: a folder inside `workDir` that contains nothing else. */
export const codeDirectory = ({ workDir }: Pick<HostConfig, 'workDir'>): string =>
  join(workDir, 'code');

const mebibyte = 2 ** 20;

const defaultWorkDir = (hostId: string): string => join(tmpdir(), `svc-host-${hostId}`);

/** Reads the configuration. Throws an `invalid` error that lists every mistake. */
export const readConfig = (env: Env): HostConfig => {
  const read = readEnv(env);
  const listen = read.text('SVC_LISTEN', '127.0.0.1:0');
  const address = parseAddress(listen);
  if (address === undefined) read.refuse(`SVC_LISTEN is "${listen}", not host:port`);
  const hostId = read.text('SVC_HOST_ID');
  const own = read.text('SVC_NAMESPACES', '').split(',').filter(Boolean);
  const strange = own.filter((name) => !namespaces.some((known) => known === name));
  if (strange.length > 0) {
    read.refuse(`SVC_NAMESPACES names ${strange.join(', ')}, not ${namespaces.join(', ')}`);
  }
  const workDir = read.text('SVC_WORK_DIR', defaultWorkDir(hostId));
  const snapshotMb = read.integer('SVC_SNAPSHOT_MB', { min: 1, max: 2 ** 24, fallback: 4_096 });
  const config: HostConfig = {
    controlUrl: read.url('SVC_CONTROL_URL'),
    hostId,
    generation: read.integer('SVC_HOST_GENERATION', { min: 0, max: 2 ** 31 }),
    tokenFile: read.text('SVC_HOST_TOKEN_FILE'),
    listen: address ?? { host: '', port: 0 },
    reportAddress: read.choice('SVC_REPORT_ADDRESS', ['yes', 'no'], 'no') === 'yes',
    workDir,
    snapshots: {
      folder: read.text('SVC_SNAPSHOT_DIR', `${workDir}-snapshots`),
      mostBytes: snapshotMb * mebibyte,
    },
    ledgerMark: read.optionalText('SVC_LEDGER_MARK'),
    python: read.text('SVC_PYTHON', 'python3'),
    searchPath: read.text('PATH', ''),
    userCode: {
      memoryMb: read.integer('SVC_USER_CODE_MEMORY_MB', { min: 16, max: 65_536, fallback: 192 }),
      boundary: read.choice('SVC_USER_CODE_BOUNDARY', boundaryModes, 'auto'),
    },
    namespaces: namespaces.filter((name) => own.includes(name)),
    logLevel: read.choice('SVC_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  };
  read.finish();
  return config;
};

/**
 * Reads the configuration of the program that serves a folder from its environment variables. The worlds arrive on its
 * standard input.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Env, readEnv } from '#runtime/env.ts';
import { type ListenAddress, parseAddress } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { type BoundaryMode, boundaryModes } from '../usercode/boundary/boundary.ts';

export type FolderConfig = {
  /** Address at which the API and the page are served; port 0 takes any free port. */
  listen: ListenAddress;
  /** Folder that the program creates at its start, writes to, and removes at its end. */
  workDir: string;
  /** Command of the Python that runs user code. The next field has the folders that are searched for commands. */
  python: string;
  searchPath: string;
  boundary: BoundaryMode;
  logLevel: LogLevel;
};

/** Reads the configuration. Throws an `invalid` error that lists every mistake. */
export const readConfig = (env: Env): FolderConfig => {
  const read = readEnv(env);
  const listen = read.text('SVC_LISTEN', '127.0.0.1:0');
  const address = parseAddress(listen);
  if (address === undefined) read.refuse(`SVC_LISTEN is "${listen}", not host:port`);
  const config: FolderConfig = {
    listen: address ?? { host: '', port: 0 },
    workDir: read.text('SVC_WORK_DIR', join(tmpdir(), `svc-folder-${process.pid}`)),
    python: read.text('SVC_PYTHON', 'python3'),
    searchPath: read.text('PATH', ''),
    boundary: read.choice('SVC_USER_CODE_BOUNDARY', boundaryModes, 'auto'),
    logLevel: read.choice('SVC_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'warn'),
  };
  read.finish();
  return config;
};

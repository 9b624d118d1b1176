/** Starts the servers that are compared with the world host, each in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../src/runtime/pause.ts';
import type { LoadRequest, LoadTarget } from './host-load.ts';
import { peersFolder } from './host-peers-install.ts';

const startTimeoutMs = 60_000;

/** Returns a port on which no program listens. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

const answers = async (url: string, headers: Record<string, string>): Promise<boolean> => {
  try {
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // it does not listen yet
  }
};

const endChild = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
};

export type LaunchedServer<Name, Requests> = LoadTarget & {
  name: Name;
  /** Time from its launch to its first answer, in milliseconds. */
  startMs: number;
  requests: Requests;
  stop(): Promise<void>;
};

type Launch<Name, Requests> = {
  name: Name;
  port: number;
  args: string[];
  /** Request that the server answers once it is up. */
  first: LoadRequest;
  requests: Requests;
  folder: string;
};

/** Starts a server and waits for its first answer; its folder is removed when it stops. */
export const launch = async <Name extends string, Requests>(
  parts: Launch<Name, Requests>,
): Promise<LaunchedServer<Name, Requests>> => {
  const { name, port, args, first, requests, folder } = parts;
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = async (): Promise<void> => {
    await endChild(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until(() => child.exitCode !== null || answers(url + first.path, first.headers ?? {}), {
      timeoutMs: startTimeoutMs,
      everyMs: 2,
      what: `the first answer of ${name}`,
    });
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
  } catch (error) {
    await stop();
    throw error;
  }
  const startMs = performance.now() - startedAt;
  return { name, url, pid: child.pid as number, startMs, requests, stop };
};

/** Creates a folder for the files of a server. */
export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'svc-bench-host-'));

/** Returns the path of a program in a peer's package. */
export const programOf = (packageName: string, file: string): string =>
  join(peersFolder, 'node_modules', packageName, file);

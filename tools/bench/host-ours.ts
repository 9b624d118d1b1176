/**
 * Starts the world host as in its image, in a process of its own with a stand-in for its control plane. It is bundled,
 * runs as an unprivileged user, and is precompiled into a read-only folder, on a real Python and not a shim. Ledger,
 * contract and foreign keys are on.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heapOptions, mallocOptions } from '../../orchestrator/driver/heap.ts';
import { layOutImage } from '../../orchestrator/images/image-context.ts';
import { readImageInputs } from '../../orchestrator/images/image-inputs.ts';
import { machineClock } from '../../src/domain/world-clock.ts';
import {
  type StandInControl,
  startStandInControl,
} from '../../test/support/host/stand-in-control.ts';
import { type BuiltVersion, buildWorld, noteCount } from './host-world.ts';

const root = join(import.meta.dirname, '../..');
const token = 'st-bench-of-the-world-host';
/** Memory of the container for which its heap is sized, in MiB: the usual size of a host. */
const memoryMb = 512;

/** Further options of Node, for profiling a host: `BENCH_HOST_NODE_OPTIONS=--cpu-prof`. */
const nodeOptions = (process.env.BENCH_HOST_NODE_OPTIONS ?? '').split(' ').filter(Boolean);

/** User of the image, if root runs the benchmark and that user can read the program. */
const imageUser = { uid: 10_001, gid: 10_001 };
const canRun = (): boolean => {
  const look = `require('node:fs').accessSync(${JSON.stringify(join(root, 'package.json'))})`;
  return spawnSync(process.execPath, ['--eval', look], imageUser).status === 0;
};

let chosenUser: Partial<typeof imageUser> | undefined;

/** Returns the user of the host; empty if it is the user that runs the benchmark. */
const hostUser = (): Partial<typeof imageUser> => {
  chosenUser ??= process.getuid?.() === 0 && canRun() ? imageUser : {};
  return chosenUser;
};

/** Returns the interpreter itself: a shim takes longer to start than the host does. */
const python = (): string => {
  const usual = '/usr/bin/python3';
  if (existsSync(usual)) return usual;
  return execFileSync('python3', ['-c', 'import sys; print(sys.executable)']).toString().trim();
};

export type StartedHost = {
  url: string;
  token: string;
  pid: number;
  /** Time from its launch to its report that it is warm, in milliseconds. */
  startMs: number;
  control: StandInControl;
  stop(): Promise<void>;
};

/** The host laid out as in the image, and the folder of its precompiled code. */
type Laid = { home: string; compiled: string };

const spawnHost = (control: StandInControl, folder: string, laid: Laid): ChildProcess => {
  const child = spawn(process.execPath, [...nodeOptions, join(laid.home, 'main.mjs')], {
    ...hostUser(),
    env: {
      PATH: process.env.PATH ?? '',
      NODE_OPTIONS: heapOptions(memoryMb),
      ...mallocOptions,
      NODE_COMPILE_CACHE: laid.compiled,
      SVC_CONTROL_URL: control.url,
      SVC_HOST_ID: 'hst-bench',
      SVC_HOST_GENERATION: '0',
      SVC_HOST_TOKEN_FILE: '-',
      SVC_REPORT_ADDRESS: 'yes',
      SVC_WORK_DIR: join(folder, 'work'),
      SVC_PYTHON: python(),
      SVC_LOG_LEVEL: 'error',
    },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end('bench\n');
  return child;
};

/** Creates a folder that the host's user owns. */
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-host-'));
  if ('uid' in hostUser()) chownSync(folder, imageUser.uid, imageUser.gid);
  return folder;
};

/** Ends the host by SIGTERM, so that it leaves no workers behind. */
const endHost = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
};

const launchWarm = async (
  control: StandInControl,
  laid: Laid,
): Promise<Omit<StartedHost, 'control' | 'token'>> => {
  const folder = await newFolder();
  const startedAt = performance.now();
  const child = spawnHost(control, folder, laid);
  const stop = async (): Promise<void> => {
    await endHost(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { body } = await control.message('reportWarm');
    const startMs = performance.now() - startedAt;
    return { url: String(body.address), pid: child.pid as number, startMs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const setMode = (folder: string, mode: number): void => {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), mode);
  chmodSync(folder, mode);
};

/** Precompiles host and worker as the image's build does, and makes the folder read-only. */
const compileAhead = async (home: string): Promise<string> => {
  const compiled = await newFolder();
  execFileSync(python(), ['-m', 'compileall', '-q', home]);
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compiled };
  const load = (file: string) => `await import(${JSON.stringify(join(home, file))})`;
  const node = (args: string[]) =>
    spawnSync(process.execPath, args, {
      ...hostUser(),
      env,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
  node(['--input-type=module', '--eval', load('program.mjs')]);
  node(['--input-type=module', '--eval', load('usercode/typescript/worker.mts')]);
  node([join(home, 'main.mjs')]); // refuses to start without settings, and is compiled by then
  const folders = readdirSync(compiled).map((name) => join(compiled, name));
  for (const folder of [...folders, compiled]) setMode(folder, 0o555);
  process.once('exit', () => {
    for (const folder of [compiled, ...folders]) setMode(folder, 0o755);
    rmSync(compiled, { recursive: true });
  });
  return compiled;
};

/** Lays the host out and precompiles it; both folders are removed when the process ends. */
const layOut = async (): Promise<Laid> => {
  const folder = await newFolder();
  process.once('exit', () => rmSync(folder, { recursive: true }));
  await layOutImage(root, await readImageInputs(root, undefined), folder);
  const home = join(folder, 'world-host-image');
  return { home, compiled: await compileAhead(home) };
};

let laidOut: Promise<Laid> | undefined;

/** Starts a host that waits for a session. */
export const startWarmHost = async (
  blobs: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<StartedHost> => {
  laidOut ??= layOut();
  const laid = await laidOut;
  const control = await startStandInControl(blobs);
  const host = await launchWarm(control, laid);
  return {
    ...host,
    token,
    control,
    async stop() {
      await host.stop();
      await control.stop();
    },
  };
};

/** Starts a host that serves a session of a version. */
export const startHostOf = async (
  worldSlug: string,
  { bundle, snapshot, blobs }: BuiltVersion,
): Promise<StartedHost> => {
  const host = await startWarmHost(blobs);
  host.control.assign({
    sessionId: 'ses-bench',
    generation: 1,
    sessionToken: token,
    worldSlug,
    bundle,
    snapshot,
    blobs: {},
    task: null,
    surfaces: ['api'],
    clock: machineClock,
    seed: null,
  });
  await host.control.message('reportReady');
  return host;
};

/** Starts a host that serves the notes. */
export const startWorldHost = (): Promise<StartedHost> =>
  startHostOf('bench-notes', buildWorld(noteCount));

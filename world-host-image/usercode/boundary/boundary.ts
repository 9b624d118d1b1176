/**
 * Starts processes in the sandbox of user code, the boundary (`svc_boundary/`). A Python process first drops its own
 * rights, and then becomes the program by `exec`. Node cannot do that for itself.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '#runtime/log.ts';
import { hostFolder } from '../../host-folder.ts';
import type { MemoryPool } from './watch.ts';

/**
 * Modes of the sandbox. `require` refuses user code if the system lacks a part of it; `auto` uses the parts that the
 * system has.
 */
export const boundaryModes = ['auto', 'require'] as const;
export type BoundaryMode = (typeof boundaryModes)[number];

/** Parts of the sandbox that a system may lack, each with what user code can do without it. */
export const boundaryParts = {
  landlock:
    "read every file that the host's user can read, the host's own environment in /proc among them",
  seccomp: 'start processes, signal its host and open connections',
} as const;
export type BoundaryPart = keyof typeof boundaryParts;

/** Folder of the programs that run user code. */
export const userCodeFolder = join(hostFolder, 'usercode');

/** Folder that holds the packages `svc_env` and `svc_boundary`. */
export const packageRoot = join(userCodeFolder, 'python');

/**
 * Flags of every Python: isolated from installed packages, unbuffered, without byte code files, and without the column
 * tables of instructions. Those tables take 0.3 MB, and no trace shows columns.
 */
export const isolated = ['-P', '-s', '-S', '-B', '-u', '-X', 'utf8', '-X', 'no_debug_ranges'];

/** Returns the environment of every worker: fixed, and without a search path. */
export const cleanEnvironment = (workDir: string): Record<string, string> => ({
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  HOME: workDir,
  TMPDIR: workDir,
});

/** Number of threads that Node starts when it first needs them: four for files and the like. */
export const nodeLaterThreads = 4;

const mebibyte = 1024 * 1024;

/** Memory of an idle Node, in MiB: its program, its threads' stacks, its own heap. */
export const nodeMb = 160;

/**
 * Returns the memory that V8 reserves for machine code. It counts as data on processors where that memory is always
 * writable. It is the same in each process of this Node, so the host measures itself.
 */
const reservedForCode = (): number => {
  const maps = readFileSync('/proc/self/maps', 'latin1');
  return [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm)]
    .map(([, from = '0', to = '0']) => Number.parseInt(to, 16) - Number.parseInt(from, 16))
    .reduce((sum, bytes) => sum + bytes, 0);
};

let dataBytes: number | undefined;

/** Returns the data limit of a Node process that may use `memoryMb` for its work; 0 means no limit. */
const dataLimit = (memoryMb: number): number => {
  if (process.platform !== 'linux') return 0;
  dataBytes ??= reservedForCode() + nodeMb * mebibyte;
  return dataBytes + memoryMb * mebibyte;
};

/**
 * Returns the `package.json` paths that Node probes above the code it runs. Node fails on one that exists but cannot
 * be read, so all must be readable.
 */
const packageFiles = (folders: readonly string[]): string[] => {
  const above = (folder: string): string[] =>
    folder === dirname(folder) ? [folder] : [folder, ...above(dirname(folder))];
  return [...new Set(folders.flatMap(above))].map((folder) => join(folder, 'package.json'));
};

/** Sandbox for processes: how it is set up, and whether all its parts are required. */
export type ProcessBounds = {
  /** Python that `findPython` found; undefined if there is none, and therefore no sandbox. */
  python: string | undefined;
  mode: BoundaryMode;
  /** Memory that all such processes of the host share. */
  memory?: { mb: number; pool: MemoryPool };
};

export type Bounded = ProcessBounds & {
  /** Number below which file descriptors are passed on to the program. */
  keep: number;
  memoryMb: number;
  /** Files and folders that the program may read, besides the system's libraries. */
  readable: readonly string[];
  /** Arguments for Node. The program is always this Node, because its name must not be searched for. */
  node: readonly string[];
};

/**
 * Returns the command that runs this Node in the sandbox, or without one if there is no Python to set it up. The
 * process has no inspector that a signal could open.
 */
export const boundedNode = (bounded: Bounded): { command: string; arguments: string[] } => {
  const { python, mode, keep, memoryMb, readable, node } = bounded;
  const own = ['--disable-sigusr1', ...node];
  if (python === undefined) return { command: process.execPath, arguments: own };
  const start =
    'import sys; sys.path.insert(0, sys.argv[1]); from svc_boundary.launch import main; main()';
  return {
    command: python,
    arguments: [
      ...isolated,
      '-c',
      start,
      packageRoot,
      String(process.pid),
      mode,
      String(keep),
      String(dataLimit(memoryMb)),
      [...readable, ...packageFiles(readable)].join('\n'),
      process.execPath,
      ...own,
    ],
  };
};

/** Makes a notice that is logged once, if the system lacks parts of the sandbox, and names what code can do there. */
export const createOpenNotice = (log: Log) => {
  let isLogged = false;
  return (missing: readonly BoundaryPart[]): void => {
    if (isLogged || missing.length === 0) return;
    isLogged = true;
    const open = missing.map((part) => `no ${part}, so code can ${boundaryParts[part]}`).join('; ');
    log.warn(
      { missing },
      `the sandbox of user code is incomplete on this system (${open}): run no untrusted code here, or set SVC_USER_CODE_BOUNDARY=require to refuse it`,
    );
  };
};

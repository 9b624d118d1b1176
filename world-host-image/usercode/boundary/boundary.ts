/**
 * Starts processes in the sandbox of user code, which is called the boundary (`svc_boundary/`). A Python process first
 * drops its own rights, and then becomes the program by `exec`. Node cannot drop its own rights.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '#runtime/log.ts';
import { hostFolder } from '../../host-folder.ts';
import type { MemoryPool } from './watch.ts';

/**
 * Modes of the sandbox. With `require`, user code is refused if the system lacks a part of the sandbox. With `auto`,
 * the parts that the system has are used.
 */
export const boundaryModes = ['auto', 'require'] as const;
export type BoundaryMode = (typeof boundaryModes)[number];

/** Parts of the sandbox that a system may lack, each with what user code can do if the part is missing. */
export const boundaryParts = {
  landlock:
    "read every file that the host's user can read, the host's own environment in /proc among them",
  seccomp: 'start processes, signal its host and open connections',
} as const;
export type BoundaryPart = keyof typeof boundaryParts;

/** Folder of the programs that run user code. */
export const userCodeFolder = join(hostFolder, 'usercode');

/** Folder that contains the packages `svc_env` and `svc_boundary`. */
export const packageRoot = join(userCodeFolder, 'python');

/**
 * Flags of every Python process: isolated from installed packages, unbuffered, without byte code files, and without the
 * column tables of instructions. The column tables would take 0.3 MB, and no trace shows columns.
 */
export const isolated = ['-P', '-s', '-S', '-B', '-u', '-X', 'utf8', '-X', 'no_debug_ranges'];

/** Returns the environment variables of every worker. They are fixed, and contain no search path. */
export const cleanEnvironment = (workDir: string): Record<string, string> => ({
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  HOME: workDir,
  TMPDIR: workDir,
});

/** Number of threads that Node starts only when they are first needed: four for file operations and similar work. */
export const nodeLaterThreads = 4;

const mebibyte = 1024 * 1024;

/** Memory of an idle Node process, in MiB: its program, its threads' stacks, its own heap. */
export const nodeMb = 160;

/**
 * Returns the size of the memory that V8 reserves for machine code, in bytes. It counts as data on processors where
 * that memory is always writable. The size is the same in each process of this Node, so the host measures its own
 * process.
 */
const reservedForCode = (): number => {
  const maps = readFileSync('/proc/self/maps', 'latin1');
  return [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm)]
    .map(([, from = '0', to = '0']) => Number.parseInt(to, 16) - Number.parseInt(from, 16))
    .reduce((sum, bytes) => sum + bytes, 0);
};

let dataBytes: number | undefined;

/** Returns the data limit, in bytes, of a Node process that may use `memoryMb` for its work; 0 means no limit. */
const dataLimit = (memoryMb: number): number => {
  if (process.platform !== 'linux') return 0;
  dataBytes ??= reservedForCode() + nodeMb * mebibyte;
  return dataBytes + memoryMb * mebibyte;
};

/**
 * Returns the paths of `package.json` that Node looks for in the folders above the code it runs. Node fails if such a
 * file exists but cannot be read, so all of them must be readable.
 */
const packageFiles = (folders: readonly string[]): string[] => {
  const above = (folder: string): string[] =>
    folder === dirname(folder) ? [folder] : [folder, ...above(dirname(folder))];
  return [...new Set(folders.flatMap(above))].map((folder) => join(folder, 'package.json'));
};

/** Sandbox for processes: how it is set up, and whether all of its parts are required. */
export type ProcessBounds = {
  /**
   * Path of the Python that sets up the sandbox, as `findPython` returned it; undefined if there is none, which means
   * no sandbox.
   */
  python: string | undefined;
  mode: BoundaryMode;
  /** Memory that all processes with this sandbox share. */
  memory?: { mb: number; pool: MemoryPool };
};

export type Bounded = ProcessBounds & {
  /** File descriptors below this number are passed on to the program. */
  keep: number;
  memoryMb: number;
  /** Files and folders that the program may read, in addition to the system's libraries. */
  readable: readonly string[];
  /** Arguments for Node. The program is always the Node that runs this host, so it need not be searched by name. */
  node: readonly string[];
};

/**
 * Returns the command that runs this Node in the sandbox. If there is no Python to set up the sandbox, the command runs
 * Node without it. The process has no inspector that a signal could open.
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

/**
 * Returns a function that logs once if the system lacks parts of the sandbox, and what user code can do without them.
 */
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

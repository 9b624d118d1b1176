/**
 * How a process is started behind the boundary of user code (`svc_boundary/`): a Python that takes from
 * itself what it may not have, and then becomes the program. Node cannot do that for itself.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '#runtime/log.ts';
import { hostFolder } from '../host-folder.ts';
import type { MemoryPool } from './watch.ts';

/** `require`: no user code where the system lacks a part of the boundary; `auto`: with what there is. */
export const boundaryModes = ['auto', 'require'] as const;
export type BoundaryMode = (typeof boundaryModes)[number];

/** What a system may lack of it, and what user code can do there. */
export const boundaryParts = {
  landlock:
    "read every file that the host's user can read, the host's own environment in /proc among them",
  seccomp: 'start processes, signal its host and open connections',
} as const;
export type BoundaryPart = keyof typeof boundaryParts;

/** Folder that holds the packages `svc_env` and `svc_boundary`. */
export const packageRoot = join(hostFolder, 'usercode');

/**
 * Flags of every Python: apart from what is installed, unbuffered, without byte code files, and without the columns
 * of each instruction, which are 0.3 MB and which no trace of ours tells.
 */
export const isolated = ['-P', '-s', '-S', '-B', '-u', '-X', 'utf8', '-X', 'no_debug_ranges'];

/** Threads that Node starts when it first needs them: four for files and the like. */
export const nodeLaterThreads = 4;

const mebibyte = 1024 * 1024;

/** The memory of a Node that has nothing to do: its program, its threads' stacks, its own heap. */
export const nodeMb = 160;

/**
 * What V8 sets aside for machine code, which counts as data on processors where it can be written to at
 * any time. It is the same in each process of this Node, so the host looks at itself.
 */
const reservedForCode = (): number => {
  const maps = readFileSync('/proc/self/maps', 'latin1');
  return [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm)]
    .map(([, from = '0', to = '0']) => Number.parseInt(to, 16) - Number.parseInt(from, 16))
    .reduce((sum, bytes) => sum + bytes, 0);
};

let dataBytes: number | undefined;

/** The limit on data of a Node that may take so much memory for what it is given to do. */
const dataLimit = (memoryMb: number): number => {
  if (process.platform !== 'linux') return 0;
  dataBytes ??= reservedForCode() + nodeMb * mebibyte;
  return dataBytes + memoryMb * mebibyte;
};

/** Node reads these of the folders above what it runs, and stops at one that it finds and cannot read. */
const packageFiles = (folders: readonly string[]): string[] => {
  const above = (folder: string): string[] =>
    folder === dirname(folder) ? [folder] : [folder, ...above(dirname(folder))];
  return [...new Set(folders.flatMap(above))].map((folder) => join(folder, 'package.json'));
};

/** What draws the boundary, and whether it must be whole. */
export type ProcessBounds = {
  /** A Python that `findPython` found; undefined where there is none, and so no boundary. */
  python: string | undefined;
  mode: BoundaryMode;
  /** Memory that the host has for such processes, all together. */
  memory?: { mb: number; pool: MemoryPool };
};

export type Bounded = ProcessBounds & {
  /** Descriptors below this are passed on. */
  keep: number;
  memoryMb: number;
  /** Files and folders that the program reads, beside the system's libraries. */
  readable: readonly string[];
  /** Node's own arguments; a program's name must not be looked for, so it is this Node. */
  node: readonly string[];
};

/**
 * The command that runs this Node behind the boundary, or without one where there is no Python to draw it. It has no
 * inspector that a signal could open.
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

/** Tells once what is open where a system lacks a part of the boundary. */
export const createOpenNotice = (log: Log) => {
  let isTold = false;
  return (missing: readonly BoundaryPart[]): void => {
    if (isTold || missing.length === 0) return;
    isTold = true;
    const open = missing.map((part) => `no ${part}, so code can ${boundaryParts[part]}`).join('; ');
    log.warn(
      { missing },
      `this system does not hold user code within its process (${open}): run no code of strangers here, or set SVC_USER_CODE_BOUNDARY=require to refuse it`,
    );
  };
};

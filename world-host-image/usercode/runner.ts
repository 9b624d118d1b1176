/**
 * Runs user code in a world host, with one worker for each language. If a call is likely to need a worker, the worker
 * is started before: Python's before there is a world, TypeScript's with a world that has TypeScript code. Otherwise it
 * starts at the first run (`pool/worker-queue.ts`). Whatever user code does (throws, hangs, exits, floods its output),
 * the run returns a `RunResult`; only faults of the host itself are thrown.
 */
import { realpathSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { extname, sep } from 'node:path';
import { AppError } from '#domain/error.ts';
import { makeFoldersSync } from '#runtime/folders.ts';
import type { Log } from '#runtime/log.ts';
import { type BoundaryMode, createOpenNotice, type ProcessBounds } from './boundary/boundary.ts';
import { createMemoryPool, type MemoryPool } from './boundary/watch.ts';
import type { WorkerKind } from './boundary/worker-kind.ts';
import { type Grader, Graders } from './pool/grader.ts';
import type { WorkerProcesses } from './pool/worker.ts';
import { WorkerQueue } from './pool/worker-queue.ts';
import { findPython, noPython, pythonWorker } from './python/python.ts';
import {
  defaultLimits,
  type RunRequest,
  type RunResult,
  type UserCodeLimits,
  type UserLanguage,
} from './run.ts';
import { typescriptWorker } from './typescript/typescript.ts';

export type { Grader } from './pool/grader.ts';
export type { WorkerProcesses } from './pool/worker.ts';
export type {
  HandlerRequest,
  RunRequest,
  RunResult,
  StoreAccess,
  TraceFrame,
  UserCodeLimits,
  UserLanguage,
  VendorAnswer,
  VerifyReport,
} from './run.ts';

export type UserCodeOptions = {
  /** Command of Python 3.11 or later. */
  python: string;
  /**
   * Folders that are searched for the command, in the format of `PATH`. If absent, the command is run to find its
   * interpreter.
   */
  searchPath?: string;
  /** Folder for user code. It contains the code directories, and the TypeScript worker can read nothing else. */
  workDir: string;
  /** Mode of the sandbox; defaults to `auto`. */
  boundary?: BoundaryMode;
  log: Log;
  /** Limits that differ from `defaultLimits`. */
  limits?: Partial<UserCodeLimits>;
  /**
   * Memory pool that the processes of user code share with other processes; if absent, they have a pool of their own.
   */
  pool?: MemoryPool;
};

export type UserCode = {
  /** Sandbox settings for other processes that evaluate untrusted code. */
  bounds: ProcessBounds;
  /**
   * Sets the code directory for later runs, and imports its files `tools` and `api/handlers`. The directory must lie
   * inside `workDir`. If the world also has Python code, TypeScript is imported only if it has handlers. Resolves with
   * the reasons why files could not be imported, each with its place. Runs of those files fail for the same reasons.
   */
  load(directory: string): Promise<readonly string[]>;
  /** Runs one function. Runs of the same language are executed one after the other. */
  run(request: RunRequest): Promise<RunResult>;
  /**
   * Starts a process for one Python grader, without waiting for it. It is separate from the processes that `run` uses.
   */
  startGrader(): Grader;
  /**
   * Starts a separate process, as for a grader, for one run of tests in a language. `libraries` are folders that Python
   * may import from.
   */
  startTester(language: UserLanguage, libraries: readonly string[]): Grader;
  /**
   * Replaces the processes by fresh ones that have loaded nothing; a current run ends as `crashed`. If the process of a
   * language has loaded and run nothing since its start, it is already fresh and stays. `whenGone` runs after the old
   * processes have ended and before new ones start. If `whenGone` throws, no process is started.
   */
  restart(whenGone?: () => Promise<void>): Promise<void>;
  /** Returns the current processes. */
  processes(): WorkerProcesses;
  /** Kills all processes and resolves when they have ended. */
  stop(): Promise<void>;
};

const mebibyte = 1024 * 1024;
/** Minimum size of the shared memory, in MiB: enough for two idle workers and one that works. */
const leastSharedMb = 192;

/**
 * Returns the memory of all processes together, in MiB. It is twice the memory of one worker, because one worker may
 * take three eighths of the host's memory, and all together six eighths.
 */
const sharedMemoryMb = ({ memoryMb }: UserCodeLimits): number =>
  Math.max(2 * memoryMb, leastSharedMb);

const filePattern = /^[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)*\.(?:py|ts)$/;

const refuseFile = (file: string): RunResult => ({
  ok: false,
  error: { code: 'load_failed', message: `"${file}" is not a path of a .py or .ts file` },
});

const languages: Readonly<Record<string, UserLanguage>> = { '.py': 'python', '.ts': 'typescript' };

const withoutPython: RunResult = { ok: false, error: { code: 'load_failed', message: noPython } };

/**
 * Finds the Python of this host, or logs that there is none. If there is none but the sandbox is required, throws
 * `unavailable`, because only Python can set up the sandbox.
 */
const findOrWarn = async ({ python, searchPath, boundary, log }: UserCodeOptions) => {
  try {
    return await findPython(python, searchPath);
  } catch (error) {
    if (!(error instanceof AppError) || boundary === 'require') throw error;
    log.warn({ why: error.message }, noPython);
    return undefined;
  }
};

/**
 * Returns the languages in a code directory whose files are imported at once, because a run is likely to need them. In
 * a world with Python code, TypeScript without handlers usually has only one or two tools. Its worker takes as much
 * memory as the rest of a host, so it starts only at the first call of such a tool.
 */
const eagerLanguages = async (directory: string): Promise<ReadonlySet<UserLanguage>> => {
  const names = await readdir(directory, { recursive: true });
  const found = new Set(names.flatMap((name) => languages[extname(name)] ?? []));
  if (found.has('python') && !names.includes('api/handlers.ts')) found.delete('typescript');
  return found;
};

/** Returns the real path of a code directory. Throws `invalid` unless it lies inside the folder for code. */
const codeDirectory = async (directory: string, root: string): Promise<string> => {
  const real = await realpath(directory).catch((cause: unknown) => {
    throw new AppError('invalid', `code directory "${directory}" does not exist`, { cause });
  });
  if (!real.startsWith(root + sep)) {
    throw new AppError('invalid', `code directory "${directory}" is outside of "${root}"`);
  }
  return real;
};

/** Settings that are common to all processes of user code. */
type Setting = {
  root: string;
  python: string | undefined;
  limits: UserCodeLimits;
  boundary: BoundaryMode;
  /** Members that are the same in each `WorkerKind`. */
  shared: Required<Pick<WorkerKind, 'onOpen' | 'pool'>>;
  memoryMb: number;
  log: Log;
};

/**
 * Finds the Python of this host, makes the folder for user code, and makes a memory pool for its processes unless one
 * is given.
 */
const prepare = async (options: UserCodeOptions): Promise<Setting> => {
  const { boundary = 'auto', log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  // This is synchronous, because the caller then loads a program, and no asynchronous work runs during the load.
  makeFoldersSync(options.workDir);
  const root = realpathSync(options.workDir);
  const python = await findOrWarn(options);
  const onOpen = createOpenNotice(log);
  const memoryMb = sharedMemoryMb(limits);
  const pool = options.pool ?? createMemoryPool(memoryMb * mebibyte);
  if (python === undefined) onOpen(['landlock', 'seccomp']);
  return { root, python, limits, boundary, shared: { onOpen, pool }, memoryMb, log };
};

/**
 * Describes a worker for a language. The worker may read the given folder, and a Python worker also `libraries`.
 * Returns undefined for a language that this host does not have.
 */
const kindOf = (
  { python, limits, boundary, shared }: Setting,
  language: UserLanguage,
  folder: string,
  libraries: readonly string[] = [],
): WorkerKind | undefined => {
  if (language === 'typescript') {
    return { ...typescriptWorker(python, folder, limits, boundary), ...shared };
  }
  return python === undefined
    ? undefined
    : { ...pythonWorker(python, folder, limits, boundary, libraries), ...shared };
};

const stopAll = async (queues: readonly WorkerQueue[]): Promise<void> => {
  await Promise.all(queues.map((queue) => queue.stop()));
};

/** Starts the queues of all languages. Resolves when the Python worker, which is always kept ready, has started. */
const startQueues = async (setting: Setting): Promise<WorkerQueue[]> => {
  const queues = (['python', 'typescript'] as const)
    .flatMap((language) => kindOf(setting, language, setting.root) ?? [])
    .map((kind) => new WorkerQueue(kind, setting.limits, setting.log));
  try {
    await Promise.all(queues.map((queue) => queue.ready));
    return queues;
  } catch (error) {
    await stopAll(queues);
    throw error;
  }
};

/**
 * Starts the Python worker, which is always kept ready, and resolves when it has started. On a host without Python,
 * code in Python is refused, and TypeScript runs without the sandbox. Throws `unavailable` if a worker cannot be
 * started, or if the sandbox is required and there is no Python.
 */
export const startUserCode = async (options: UserCodeOptions): Promise<UserCode> => {
  const setting = await prepare(options);
  const { root, python, limits, boundary, shared, memoryMb, log } = setting;
  const graders = new Graders({ root, refusal: withoutPython, limits, log });
  let queues = await startQueues(setting);
  return {
    bounds: { python, mode: boundary, memory: { mb: memoryMb, pool: shared.pool } },
    async load(directory) {
      const code = await codeDirectory(directory, root);
      const eager = await eagerLanguages(code);
      const failures = await Promise.all(
        queues.map(async (queue) => {
          if (eager.has(queue.kind.language)) return queue.load(code);
          await queue.point(code);
          return [];
        }),
      );
      return failures.flat();
    },
    async run(request) {
      const queue = queues.find(({ kind }) => kind.language === request.language);
      if (!filePattern.test(request.file)) return refuseFile(request.file);
      return queue === undefined ? withoutPython : queue.run(request);
    },
    startGrader: () => graders.start('grade', (folder) => kindOf(setting, 'python', folder)),
    startTester: (language, libraries) =>
      graders.start('test', (folder) => kindOf(setting, language, folder, libraries)),
    async restart(whenGone) {
      const touched = new Set(queues.filter((queue) => !queue.isUntouched()));
      await Promise.all([stopAll([...touched]), graders.endAll()]);
      await whenGone?.();
      graders.forgetStarted();
      queues = queues.map((queue) =>
        touched.has(queue) ? new WorkerQueue(queue.kind, limits, log) : queue,
      );
      await Promise.all(queues.map((queue) => queue.point(undefined)));
    },
    processes: () => {
      const each = [...queues.map((queue) => queue.pids()), graders.pids()];
      return {
        live: each.flatMap(({ live }) => live),
        started: each.flatMap(({ started }) => started),
      };
    },
    async stop() {
      await Promise.all([stopAll(queues), graders.endAll()]);
    },
  };
};

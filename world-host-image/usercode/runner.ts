/**
 * Runs user code in a world host, with one worker for each language. A worker is up before a call needs it if that is
 * likely: Python's before there is a world, TypeScript's with a world that has TypeScript code, else at its first run
 * (`pool/worker-queue.ts`). Whatever user code does (throws, hangs, exits, floods its output) returns as a `RunResult`;
 * only faults of the host itself are thrown.
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
import { type Grader, refusedGrader, startGrader } from './pool/grader.ts';
import { type Lane, startLane, type WorkerProcesses } from './pool/worker-queue.ts';
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
export type { WorkerProcesses } from './pool/worker-queue.ts';
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
   * Folders in which the command is searched, as in `PATH`; without them the command is run to find its interpreter.
   */
  searchPath?: string;
  /** Folder for user code: code directories lie in it, and TypeScript can read nothing else. */
  workDir: string;
  /** Mode of the sandbox; defaults to `auto`. */
  boundary?: BoundaryMode;
  log: Log;
  /** Overrides of `defaultLimits`. */
  limits?: Partial<UserCodeLimits>;
  /** Memory pool that its processes share with other processes; by default they have a pool of their own. */
  pool?: MemoryPool;
};

export type UserCode = {
  /** Sandbox settings for other processes that evaluate untrusted code. */
  bounds: ProcessBounds;
  /**
   * Makes a directory inside `workDir` the code of later runs, and imports `tools` and `api/handlers`. Next to Python,
   * TypeScript is imported only if it has handlers. Resolves with the reasons why files could not be imported, each
   * with its place; runs of those files fail for the same reason.
   */
  load(directory: string): Promise<readonly string[]>;
  /** Runs one function. Runs of one language are executed one after the other. */
  run(request: RunRequest): Promise<RunResult>;
  /** Starts a process for one Python grader, separate from those that `run` uses, without waiting for it. */
  startGrader(): Grader;
  /** Starts such a process for one run of tests in a language; `libraries` are folders that Python may import from. */
  startTester(language: UserLanguage, libraries: readonly string[]): Grader;
  /**
   * Starts fresh processes with nothing loaded; a current run ends as `crashed`. A process of a language that has
   * loaded and run nothing since its start is fresh already, and stays. `whenGone` runs after the old processes are
   * gone and before new ones start; if it throws, nothing is started.
   */
  restart(whenGone?: () => Promise<void>): Promise<void>;
  /** Returns the current processes. */
  processes(): WorkerProcesses;
  /** Kills all processes and resolves when they are gone. */
  stop(): Promise<void>;
};

const mebibyte = 1024 * 1024;
/** Minimum memory for two idle languages and one that works, in MiB. */
const leastSharedMb = 192;

/**
 * Returns the memory of all processes together: six eighths of the host's memory, where one worker may take three
 * eighths.
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
 * Finds the Python of this host, or logs that there is none. Throws `unavailable` if there is none and the sandbox,
 * which only Python can set up, is required.
 */
const findOrTell = async ({ python, searchPath, boundary, log }: UserCodeOptions) => {
  try {
    return await findPython(python, searchPath);
  } catch (error) {
    if (!(error instanceof AppError) || boundary === 'require') throw error;
    log.warn({ why: error.message }, noPython);
    return undefined;
  }
};

/**
 * Returns the languages in a code directory whose files are imported at once, because a run is likely to need them.
 * TypeScript beside Python, without handlers, has a tool or two. Its worker takes as much memory as the rest of a
 * host, so it is left to the first call of such a tool.
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
    throw new AppError('invalid', `code directory "${directory}" is not there`, { cause });
  });
  if (!real.startsWith(root + sep)) {
    throw new AppError('invalid', `code directory "${directory}" is outside of "${root}"`);
  }
  return real;
};

/**
 * Starts the worker that is kept ready and resolves when it is up. Without Python there is none: Python code is
 * refused, and TypeScript runs without the sandbox.
 * Throws `unavailable` if a worker cannot be started, or if the sandbox is required and there is no Python.
 */
export const startUserCode = async (options: UserCodeOptions): Promise<UserCode> => {
  const limits = { ...defaultLimits, ...options.limits };
  // Synchronous, because the caller goes on to load a program, and asynchronous work gets no turn during that.
  makeFoldersSync(options.workDir);
  const root = realpathSync(options.workDir);
  const python = await findOrTell(options);
  const { boundary = 'auto' } = options;
  const onOpen = createOpenNotice(options.log);
  const memoryMb = sharedMemoryMb(limits);
  const pool = options.pool ?? createMemoryPool(memoryMb * mebibyte);
  if (python === undefined) onOpen(['landlock', 'seccomp']);
  const kinds = [
    ...(python === undefined ? [] : [pythonWorker(python, root, limits, boundary)]),
    typescriptWorker(python, root, limits, boundary),
  ].map((kind) => ({ ...kind, onOpen, pool }));
  const start = (kind: WorkerKind): Lane => startLane(kind, limits, options.log);
  const graders = new Set<Grader>();
  let graderPids: number[] = [];
  const endGraders = async (): Promise<void> => {
    await Promise.all([...graders].map((grader) => grader.end()));
    graders.clear();
  };
  const stopLanes = async (old: Lane[]): Promise<void> => {
    await Promise.all(old.map((lane) => lane.stop()));
  };
  /** Starts a separate process. `kindIn` is undefined for a language that this host does not have. */
  const startApart = (
    kindIn: ((folder: string) => WorkerKind) | undefined,
    name: string,
  ): Grader => {
    const prefix = `${root}-${name}-`;
    const grader =
      kindIn === undefined
        ? refusedGrader(prefix, withoutPython)
        : startGrader({
            kindIn: (folder) => ({ ...kindIn(folder), onOpen, pool }),
            prefix,
            limits,
            log: options.log,
          });
    if (grader.pid !== undefined) graderPids.push(grader.pid);
    graders.add(grader);
    return {
      ...grader,
      async end() {
        await grader.end();
        graders.delete(grader);
      },
    };
  };
  const pythonIn = (libraries: readonly string[]) =>
    python === undefined
      ? undefined
      : (folder: string) => pythonWorker(python, folder, limits, boundary, libraries);
  let lanes = kinds.map(start);
  try {
    await Promise.all(lanes.map((lane) => lane.ready));
  } catch (error) {
    await stopLanes(lanes);
    throw error;
  }
  return {
    bounds: { python, mode: boundary, memory: { mb: memoryMb, pool } },
    async load(directory) {
      const code = await codeDirectory(directory, root);
      const eager = await eagerLanguages(code);
      const failures = await Promise.all(
        lanes.map(async (lane) => {
          if (eager.has(lane.kind.language)) return lane.load(code);
          await lane.point(code);
          return [];
        }),
      );
      return failures.flat();
    },
    async run(request) {
      const lane = lanes.find(({ kind }) => kind.language === request.language);
      if (!filePattern.test(request.file)) return refuseFile(request.file);
      return lane === undefined ? withoutPython : lane.run(request);
    },
    startGrader: () => startApart(pythonIn([]), 'grade'),
    startTester: (language, libraries) =>
      startApart(
        language === 'python'
          ? pythonIn(libraries)
          : (folder) => typescriptWorker(python, folder, limits, boundary),
        'test',
      ),
    async restart(whenGone) {
      const touched = new Set(lanes.filter((lane) => !lane.isUntouched()));
      await Promise.all([stopLanes([...touched]), endGraders()]);
      await whenGone?.();
      graderPids = [];
      lanes = lanes.map((lane) => (touched.has(lane) ? start(lane.kind) : lane));
      await Promise.all(lanes.map((lane) => lane.point(undefined)));
    },
    processes: () => ({
      live: [
        ...lanes.flatMap((lane) => lane.pids().live),
        ...[...graders].flatMap(({ pid }) => pid ?? []),
      ],
      started: [...lanes.flatMap((lane) => lane.pids().started), ...graderPids],
    }),
    async stop() {
      await Promise.all([stopLanes(lanes), endGraders()]);
    },
  };
};

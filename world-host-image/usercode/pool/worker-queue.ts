/**
 * Queue of one language: runs requests one after the other on one worker, and ensures that the next run finds a live
 * one. A worker that died during a run is replaced at once. If importing the code killed a worker, its replacement
 * imports at the first run, under that run's time limit. A file that hangs or exits is then reported where it is used.
 *
 * A kind of worker that is cheap enough is kept ready; any other starts when there is code to import or a run. A worker
 * that has been idle for long is ended, and the next run starts another.
 *
 * Code that need not be imported at once is not loaded until a run needs it. A worker that no code has ever reached is
 * therefore known to be fresh, and need not be replaced.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import type { RunRequest, RunResult, UserCodeLimits } from '../run.ts';
import { startWorker, type Worker } from './worker.ts';

/** Ids of user code processes, each the leader of its process group. */
export type WorkerProcesses = {
  live: number[];
  /** Processes started since the last restart, including the live ones. */
  started: number[];
};

export type Lane = {
  kind: WorkerKind;
  /** Resolves when the worker that is kept ready is up; at once if none is. */
  ready: Promise<void>;
  /**
   * Makes a directory the code of later runs, and imports it at once; resolves with the reasons why files could not be
   * imported.
   */
  load(directory: string): Promise<readonly string[]>;
  /** Makes a directory the code of later runs, without importing it; undefined means no code. */
  point(directory: string | undefined): Promise<void>;
  /** Returns its live processes, and all that it ever started. */
  pids(): WorkerProcesses;
  /** Returns true if no operation so far has brought code to a worker. */
  isUntouched(): boolean;
  run(request: RunRequest): Promise<RunResult>;
  /** Kills the running worker; queued runs are refused as `unavailable`. */
  stop(): Promise<void>;
};

export const startLane = (kind: WorkerKind, limits: UserCodeLimits, log: Log): Lane => {
  const workers = new Set<Worker>();
  const started: number[] = [];
  let directory: string | undefined;
  /** True if workers import the directory before a run needs it. */
  let isEager = false;
  let isUntouched = true;
  /** Reasons why files of the directory could not be imported the last time. */
  let failures: readonly string[] = [];
  let stopped = false;
  let turn: Promise<unknown> = Promise.resolve();

  const dispose = async (worker: Worker): Promise<void> => {
    await worker.stop();
    workers.delete(worker);
  };

  const start = async (): Promise<Worker> => {
    if (stopped) throw new AppError('unavailable', `the ${kind.language} worker was stopped`);
    const worker = startWorker(kind, limits, log);
    workers.add(worker);
    if (worker.pid !== undefined) started.push(worker.pid);
    try {
      await worker.ready;
      return worker;
    } catch (error) {
      await dispose(worker);
      throw error;
    }
  };

  const killed = `importing the ${kind.language} code of the world ended its process, or took more than ${limits.loadMs / 1000} s`;

  const loadInto = async (worker: Worker, code: string): Promise<Worker> => {
    const found = await worker.load(code, true);
    failures = found ?? [killed];
    if (found !== undefined) return worker;
    log.warn({ language: kind.language }, 'importing user code killed its worker');
    await dispose(worker);
    const second = await start();
    await second.load(code, false);
    return second;
  };

  const startLoaded = async (): Promise<Worker> => {
    const worker = await start();
    return directory === undefined || !isEager ? worker : loadInto(worker, directory);
  };

  let current: Promise<Worker> | undefined;
  const replaceBy = (next: Promise<Worker>): Promise<Worker> => {
    current = next;
    // Callers that need the worker await `current` and receive the failure there.
    next.catch(() => undefined);
    return next;
  };
  if (kind.isKeptReady) replaceBy(start());

  /** Returns the live worker, or starts a new one if there is none, or if the last died or did not start. */
  const liveWorker = async (): Promise<Worker> => {
    const worker = await current?.catch(() => undefined);
    if (worker?.isAlive()) return worker;
    if (worker !== undefined) await dispose(worker);
    return replaceBy(startLoaded());
  };

  /** Runs `work` when all work queued before has ended. */
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const value = turn.then(work);
    turn = value.catch(() => undefined);
    return value;
  };

  let idle: NodeJS.Timeout | undefined;

  /** Ends the worker if it stays idle for long. State that an author's modules keep is then lost. */
  const endWhenIdle = (): void => {
    clearTimeout(idle);
    const end = async (): Promise<void> => {
      const worker = await current?.catch(() => undefined);
      current = undefined;
      if (worker !== undefined) await dispose(worker);
    };
    idle = setTimeout(() => void inTurn(end), limits.idleMs).unref();
  };

  const turnTo = (to: string | undefined, eager: boolean): Promise<void> =>
    inTurn(async () => {
      const isNeeded = kind.isKeptReady || eager;
      const worker = current === undefined && !isNeeded ? undefined : await liveWorker();
      directory = to;
      isEager = eager;
      failures = [];
      if (worker?.isLoaded()) {
        if (isNeeded) replaceBy(startLoaded());
        else current = undefined;
        await dispose(worker);
      } else if (worker !== undefined && to !== undefined && eager) {
        replaceBy(loadInto(worker, to));
      }
      await current;
      if (current !== undefined && !kind.isKeptReady && !stopped) endWhenIdle();
    });

  /** Returns the live worker, with the code loaded if there is any. */
  const loadedWorker = async (): Promise<Worker> => {
    const worker = await liveWorker();
    if (worker.isLoaded() || directory === undefined) return worker;
    return replaceBy(loadInto(worker, directory));
  };

  return {
    kind,
    ready: current === undefined ? Promise.resolve() : current.then(() => undefined),
    async load(to) {
      isUntouched = false;
      await turnTo(to, true);
      return failures;
    },
    point: (to) => turnTo(to, false),
    pids: () => ({
      live: [...workers].flatMap(({ pid }) => pid ?? []),
      started: [...started],
    }),
    isUntouched: () => isUntouched,
    run(request) {
      isUntouched = false;
      return inTurn(async () => {
        clearTimeout(idle);
        const worker = await loadedWorker();
        try {
          return await worker.run(request);
        } finally {
          if (!worker.isAlive() && !stopped) {
            replaceBy(startLoaded());
            await dispose(worker);
          }
          if (!stopped) endWhenIdle();
        }
      });
    },
    async stop() {
      stopped = true;
      clearTimeout(idle);
      await Promise.all([...workers].map(dispose));
    },
  };
};

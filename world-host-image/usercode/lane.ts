/**
 * The lane of one language: runs one after the other on one worker, and sees to it that the next run
 * finds a live one. A worker that died under a run is replaced at once; one whose imports killed it is
 * replaced by one that imports at the first run, under that run's time limit, so that a file which
 * hangs or exits is reported where it is used.
 *
 * A worker is there when it is needed: at once where the kind is cheap enough to be kept ready, else once
 * there is code to import or a run. One that has had no run for long is ended; the next run starts another.
 *
 * Code that need not be imported at once is not loaded until a run asks for it: so a worker that no code
 * has ever reached can be told from others, and need not be replaced to be fresh.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { RunRequest, RunResult, UserCodeLimits } from './run.ts';
import { startWorker, type Worker, type WorkerKind } from './worker.ts';

/** Processes of user code, each at the head of its process group. */
export type WorkerProcesses = {
  live: number[];
  /** Those that were started since the last restart, the live ones among them. */
  started: number[];
};

export type Lane = {
  kind: WorkerKind;
  /** Resolves when the worker that is kept ready is up, at once where there is none. */
  ready: Promise<void>;
  /** Makes a directory the code of the runs to come, and imports it at once; resolves with why files could not be. */
  load(directory: string): Promise<readonly string[]>;
  /** Makes a directory the code of the runs to come; undefined: there is none. */
  point(directory: string | undefined): Promise<void>;
  /** Its live processes, and all that it ever started. */
  pids(): WorkerProcesses;
  /** Whether nobody has asked for anything yet that brings code to a worker. */
  isUntouched(): boolean;
  run(request: RunRequest): Promise<RunResult>;
  /** Kills what runs; what waits for its turn is refused as `unavailable`. */
  stop(): Promise<void>;
};

export const startLane = (kind: WorkerKind, limits: UserCodeLimits, log: Log): Lane => {
  const workers = new Set<Worker>();
  const started: number[] = [];
  let directory: string | undefined;
  /** Whether workers import the directory before a run asks them to. */
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
    // Whoever needs the worker awaits `current` and meets the failure there.
    next.catch(() => undefined);
    return next;
  };
  if (kind.isKeptReady) replaceBy(start());

  /** The live worker; a new one where there is none, or the last has died or did not start. */
  const liveWorker = async (): Promise<Worker> => {
    const worker = await current?.catch(() => undefined);
    if (worker?.isAlive()) return worker;
    if (worker !== undefined) await dispose(worker);
    return replaceBy(startLoaded());
  };

  /** Begins `work` when everything asked for before has ended. */
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const value = turn.then(work);
    turn = value.catch(() => undefined);
    return value;
  };

  let idle: NodeJS.Timeout | undefined;

  /** Ends the worker if no run comes for long. Whatever an author's modules keep is lost by that. */
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

  /** The live worker with the code in it, if there is code. */
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

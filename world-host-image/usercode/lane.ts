/**
 * The lane of one language: runs one after the other on one worker, and sees to it that the next run
 * finds a live one. A worker that died under a run is replaced at once; one whose imports killed it is
 * replaced by one that imports at the first run, under that run's time limit, so that a file which
 * hangs or exits is reported where it is used.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { RunRequest, RunResult, UserCodeLimits, UserLanguage } from './run.ts';
import { startWorker, type Worker, type WorkerKind } from './worker.ts';

export type Lane = {
  language: UserLanguage;
  /** Resolves when the first worker is up. */
  ready: Promise<void>;
  load(directory: string): Promise<void>;
  run(request: RunRequest): Promise<RunResult>;
  /** Kills what runs; what waits for its turn is refused as `unavailable`. */
  stop(): Promise<void>;
};

export const startLane = (kind: WorkerKind, limits: UserCodeLimits, log: Log): Lane => {
  const workers = new Set<Worker>();
  let directory: string | undefined;
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
    try {
      await worker.ready;
      return worker;
    } catch (error) {
      await dispose(worker);
      throw error;
    }
  };

  const loadInto = async (worker: Worker, code: string): Promise<Worker> => {
    if (await worker.load(code, true)) return worker;
    log.warn({ language: kind.language }, 'importing user code killed its worker');
    await dispose(worker);
    const second = await start();
    await second.load(code, false);
    return second;
  };

  const startLoaded = async (): Promise<Worker> => {
    const worker = await start();
    return directory === undefined ? worker : loadInto(worker, directory);
  };

  let current = start();
  const replaceBy = (next: Promise<Worker>): void => {
    current = next;
    // Whoever needs the worker awaits `current` and meets the failure there.
    next.catch(() => undefined);
  };
  replaceBy(current);

  /** The live worker; a new one where the last has died or did not start. */
  const liveWorker = async (): Promise<Worker> => {
    const worker = await current.catch(() => undefined);
    if (worker?.isAlive()) return worker;
    if (worker !== undefined) await dispose(worker);
    replaceBy(startLoaded());
    return current;
  };

  /** Begins `work` when everything asked for before has ended. */
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const value = turn.then(work);
    turn = value.catch(() => undefined);
    return value;
  };

  return {
    language: kind.language,
    ready: current.then(() => undefined),
    load: (to) =>
      inTurn(async () => {
        const worker = await liveWorker();
        directory = to;
        if (worker.isLoaded()) {
          replaceBy(startLoaded());
          await dispose(worker);
        } else {
          replaceBy(loadInto(worker, to));
        }
        await current;
      }),
    run: (request) =>
      inTurn(async () => {
        const worker = await liveWorker();
        try {
          return await worker.run(request);
        } finally {
          if (!worker.isAlive() && !stopped) {
            replaceBy(startLoaded());
            await dispose(worker);
          }
        }
      }),
    async stop() {
      stopped = true;
      await Promise.all([...workers].map(dispose));
    },
  };
};

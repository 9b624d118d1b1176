/**
 * Queue of one language: runs requests one after the other on one worker, and ensures that the next run finds a live
 * worker. A worker that died during a run is replaced at once. If importing the code killed a worker, its replacement
 * imports the code only at the first run, under that run's time limit. A file that hangs or exits is then reported by
 * the run that uses the file.
 *
 * A worker of a kind that is cheap enough is always ready. Any other worker starts when there is code to import or a
 * run. A worker that has been idle for long is ended, and the next run starts another.
 *
 * Code that need not be imported at once is loaded when a run needs it. A worker that has never loaded code is
 * therefore known to be fresh, and need not be replaced.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import type { RunRequest, RunResult, UserCodeLimits } from '../run.ts';
import { Worker, type WorkerProcesses } from './worker.ts';

export class WorkerQueue {
  readonly kind: WorkerKind;
  /** Resolves when the worker that is always ready has started; at once if this kind of worker is not always ready. */
  readonly ready: Promise<void>;
  readonly #limits: UserCodeLimits;
  readonly #log: Log;
  readonly #workers = new Set<Worker>();
  readonly #started: number[] = [];
  /** Worker for the next run; undefined if none has been started. */
  #current: Promise<Worker> | undefined;
  #directory: string | undefined;
  /** True if workers import the files of the directory before a run needs them. */
  #isEager = false;
  #isUntouched = true;
  /** Reasons why files of the directory could not be imported, from the last attempt. */
  #failures: readonly string[] = [];
  #isStopped = false;
  /** Settles when all work queued so far has ended. */
  #queued: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  constructor(kind: WorkerKind, limits: UserCodeLimits, log: Log) {
    this.kind = kind;
    this.#limits = limits;
    this.#log = log;
    this.ready = kind.isPrestarted
      ? this.#replaceBy(this.#start()).then(() => undefined)
      : Promise.resolve();
    // A host that restarts its workers does not wait for this: the next run starts another worker, and reports a failure.
    this.ready.catch(() => undefined);
  }

  /**
   * Sets the code directory for later runs, and imports its files at once. Resolves with the reasons why files could
   * not be imported.
   */
  async load(directory: string): Promise<readonly string[]> {
    this.#isUntouched = false;
    await this.#changeTo(directory, true);
    return this.#failures;
  }

  /** Sets the code directory for later runs, without importing its files; undefined means no code. */
  point(directory: string | undefined): Promise<void> {
    return this.#changeTo(directory, false);
  }

  /** Returns the live processes of the queue, and all that it has started. */
  pids(): WorkerProcesses {
    return {
      live: [...this.#workers].flatMap(({ pid }) => pid ?? []),
      started: [...this.#started],
    };
  }

  /** Returns true if no worker of the queue has loaded or run any code so far. */
  isUntouched(): boolean {
    return this.#isUntouched;
  }

  run(request: RunRequest): Promise<RunResult> {
    this.#isUntouched = false;
    return this.#enqueue(async () => {
      clearTimeout(this.#idle);
      const worker = await this.#loadedWorker();
      try {
        return await worker.run(request);
      } finally {
        if (!worker.isAlive() && !this.#isStopped) {
          this.#replaceBy(this.#startLoaded());
          await this.#dispose(worker);
        }
        if (!this.#isStopped) this.#endWhenIdle();
      }
    });
  }

  /** Kills the running worker. Queued runs are refused with `unavailable`. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#idle);
    await Promise.all([...this.#workers].map((worker) => this.#dispose(worker)));
  }

  /** Runs `work` when all work that was queued before has ended. */
  #enqueue<Value>(work: () => Promise<Value>): Promise<Value> {
    const value = this.#queued.then(work);
    this.#queued = value.catch(() => undefined);
    return value;
  }

  async #start(): Promise<Worker> {
    const { language } = this.kind;
    if (this.#isStopped) throw new AppError('unavailable', `the ${language} worker was stopped`);
    const worker = new Worker(this.kind, this.#limits, this.#log);
    this.#workers.add(worker);
    if (worker.pid !== undefined) this.#started.push(worker.pid);
    try {
      await worker.ready;
      return worker;
    } catch (error) {
      await this.#dispose(worker);
      throw error;
    }
  }

  async #dispose(worker: Worker): Promise<void> {
    await worker.stop();
    this.#workers.delete(worker);
  }

  async #loadInto(worker: Worker, code: string): Promise<Worker> {
    const { language } = this.kind;
    const found = await worker.load(code, true);
    this.#failures = found ?? [
      `importing the ${language} code of the world ended its process, or took more than ${this.#limits.loadMs / 1000} s`,
    ];
    if (found !== undefined) return worker;
    this.#log.warn({ language }, 'importing user code killed its worker');
    await this.#dispose(worker);
    const second = await this.#start();
    await second.load(code, false);
    return second;
  }

  async #startLoaded(): Promise<Worker> {
    const worker = await this.#start();
    return this.#directory === undefined || !this.#isEager
      ? worker
      : this.#loadInto(worker, this.#directory);
  }

  #replaceBy(next: Promise<Worker>): Promise<Worker> {
    this.#current = next;
    // Callers that need the worker await `#current` and receive the failure there.
    next.catch(() => undefined);
    return next;
  }

  /** Returns the live worker, or starts a new one if there is none, or if the last worker died or did not start. */
  async #liveWorker(): Promise<Worker> {
    const worker = await this.#current?.catch(() => undefined);
    if (worker?.isAlive()) return worker;
    if (worker !== undefined) await this.#dispose(worker);
    return this.#replaceBy(this.#startLoaded());
  }

  /** Returns the live worker, with the code loaded if there is any. */
  async #loadedWorker(): Promise<Worker> {
    const worker = await this.#liveWorker();
    if (worker.isLoaded() || this.#directory === undefined) return worker;
    return this.#replaceBy(this.#loadInto(worker, this.#directory));
  }

  #changeTo(directory: string | undefined, isEager: boolean): Promise<void> {
    const { isPrestarted } = this.kind;
    return this.#enqueue(async () => {
      const isNeeded = isPrestarted || isEager;
      const worker =
        this.#current === undefined && !isNeeded ? undefined : await this.#liveWorker();
      this.#directory = directory;
      this.#isEager = isEager;
      this.#failures = [];
      if (worker?.isLoaded()) {
        if (isNeeded) this.#replaceBy(this.#startLoaded());
        else this.#current = undefined;
        await this.#dispose(worker);
      } else if (worker !== undefined && directory !== undefined && isEager) {
        this.#replaceBy(this.#loadInto(worker, directory));
      }
      await this.#current;
      if (this.#current !== undefined && !isPrestarted && !this.#isStopped) this.#endWhenIdle();
    });
  }

  /** Ends the worker if it stays idle for long. State that an author's modules hold in memory is then lost. */
  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    const end = async (): Promise<void> => {
      const worker = await this.#current?.catch(() => undefined);
      this.#current = undefined;
      if (worker !== undefined) await this.#dispose(worker);
    };
    this.#idle = setTimeout(() => void this.#enqueue(end), this.#limits.idleMs).unref();
  }
}

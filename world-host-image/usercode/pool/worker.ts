/**
 * Worker: a process that has loaded a code directory and runs one request at a time. The worker is killed if a run
 * exceeds its time limit, violates the protocol or leaves something running. A dead worker is not started again; its
 * queue (`worker-queue.ts`) starts another one.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { Channel, newNonce, type WorkerExit } from '../boundary/channel.ts';
import { describeEnd } from '../boundary/child.ts';
import {
  describeSize,
  failed,
  leftRunning,
  resultOfExit,
  tooManyThreads,
} from '../boundary/exit.ts';
import { type HostMessage, type WorkerMessage, withRows } from '../boundary/protocol.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import { createNumbersAhead } from '../rows/numbers-ahead.ts';
import { cacheLimits, RowCache } from '../rows/row-cache.ts';
import type { RunRequest, RunResult, StoreAccess, UserCodeLimits } from '../run.ts';
import { type Ask, encode, replyLater, replyTo } from './answers.ts';
import { type Allowed, findLeftovers } from './leftovers.ts';

/** Ids of user code processes, each the leader of its process group. */
export type WorkerProcesses = {
  live: number[];
  /** Ids of the processes started since the last restart, including the live ones. */
  started: number[];
};

type Ended = Extract<WorkerMessage, { type: 'done' | 'next' }>;

const mebibyte = 1024 * 1024;

/** Returns true if the process ends after this run, so that leftovers cannot disturb another run. */
const isSingleRun = ({ as }: RunRequest): boolean => as === 'verify' || as === 'tests';

const startFailure = (language: string, exit: WorkerExit): AppError => {
  const why = exit.killedFor === 'timeout' ? 'not in time' : describeEnd(exit);
  const said = exit.output.trim().split('\n').at(-1) ?? '';
  const message = `the ${language} worker did not start: ${why}${said === '' ? '' : ` (${said})`}`;
  return new AppError('unavailable', message);
};

/** Worker's process. Constructing it starts the process. */
export class Worker {
  /** Process id, even after the process has ended; undefined if none was started. */
  readonly pid: number | undefined;
  /** Resolves when the process is ready; rejects with `unavailable` if it does not start. */
  readonly ready: Promise<void>;
  readonly #kind: WorkerKind;
  readonly #limits: UserCodeLimits;
  readonly #log: Log;
  readonly #channel: Channel;
  readonly #allowed: Allowed;
  readonly #rowCache: RowCache;
  readonly #ahead = createNumbersAhead();
  #directory: string | undefined;

  constructor(kind: WorkerKind, limits: UserCodeLimits, log: Log) {
    this.#kind = kind;
    this.#limits = limits;
    this.#log = log;
    this.#channel = new Channel({
      launch: kind.launch,
      limits,
      residentBytes: (kind.ownMb + limits.memoryMb) * mebibyte,
      pool: kind.pool,
      log: log.child({ language: kind.language }),
    });
    this.#allowed = {
      threads: Number.POSITIVE_INFINITY, // until it is ready
      runThreads: limits.threads,
      residentBytes: (kind.ownMb + limits.memoryMb / 2) * mebibyte,
    };
    this.#rowCache = new RowCache(cacheLimits(limits.memoryMb));
    this.pid = this.#channel.pid;
    this.ready = this.#awaitReady();
  }

  isAlive(): boolean {
    return this.#channel.isOpen();
  }

  isLoaded(): boolean {
    return this.#directory !== undefined;
  }

  /** Kills the process and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#channel.kill('stopped');
    await this.#channel.ended;
  }

  /**
   * Resolves with the reasons why files could not be imported. Resolves with undefined if importing them hung or ended
   * the process, which is then dead.
   */
  async load(directory: string, eager: boolean): Promise<readonly string[] | undefined> {
    this.#directory = directory;
    const nonce = newNonce();
    const outcome = await this.#channel.exchange(
      {
        nonce,
        timeoutMs: this.#limits.loadMs,
        take: (message) => ({ value: message.type === 'loaded' ? message.failures : [] }),
      },
      JSON.stringify({ type: 'load', nonce, directory, eager } satisfies HostMessage),
    );
    this.#allowPresentThreads();
    return 'value' in outcome ? outcome.value : undefined;
  }

  async run(begun: RunRequest): Promise<RunResult> {
    const limits = this.#limits;
    const message = this.#openingOf(begun);
    const line = encode(message, limits.messageBytes);
    if (line === undefined) {
      return failed(
        'too_large',
        `the input exceeds the maximum of ${describeSize(limits.messageBytes)}`,
      );
    }
    let next = begun.as === 'before' ? begun.next : undefined;
    /** Request that is running: `before`, and then the handler. */
    let request = begun;
    let startedAt = performance.now();
    /** Handles a message like `#take`. Also handles the message that `before` has ended and the handler begins. */
    const take = (said: WorkerMessage): { value: RunResult } | 'again' | undefined => {
      if (said.type !== 'next' || next === undefined) return this.#take(said, request);
      this.#noteEnd(said, request);
      next.onBegin(said.result);
      request = { ...begun, as: 'handler', function: next.function } as RunRequest;
      next = undefined;
      startedAt = performance.now();
      return 'again';
    };
    const { nonce, timeoutMs } = message;
    const { timeOver } = begun;
    const outcome = await this.#channel.exchange(
      { nonce, timeoutMs, timeOver, lastSignal: this.#kind.lastSignal, take },
      this.#withRows(line, begun.access),
    );
    // A grader's process has no next run that leftovers could disturb.
    if ('value' in outcome)
      return isSingleRun(request) ? outcome.value : this.#settle(request, outcome.value);
    const { exit } = outcome;
    const elapsedMs = performance.now() - startedAt;
    const trace = this.#kind.readTimeoutTrace(exit.output, this.#directory ?? '');
    return resultOfExit({ exit, request, limits, elapsedMs, trace });
  }

  async #awaitReady(): Promise<void> {
    const { language, onOpen } = this.#kind;
    const outcome = await this.#channel.exchange({
      nonce: '',
      timeoutMs: this.#limits.startMs,
      take(message) {
        if (message.type !== 'open') return { value: true };
        onOpen?.(message.missing);
        return undefined;
      },
    });
    if ('exit' in outcome) throw startFailure(language, outcome.exit);
    this.#allowPresentThreads();
  }

  /**
   * Sets the number of allowed threads to the present number. These are threads of the language itself, and those that
   * imports started; no run has left any yet.
   */
  #allowPresentThreads(): void {
    const usage = this.#channel.usage();
    if (usage !== undefined) this.#allowed.threads = usage.threads + this.#kind.laterThreads;
  }

  /** Builds the message that begins a run. */
  #openingOf(request: RunRequest): Extract<HostMessage, { type: 'run' }> {
    const { file, function: name, as, input, timeoutMs, access } = request;
    const next = request.as === 'before' ? request.next : undefined;
    const watched = request.watch !== undefined;
    // An observed run must see each request for a number, so none are prefetched for it.
    const numbers = watched || request.answer !== undefined ? undefined : access.nextInteger;
    return {
      type: 'run',
      nonce: newNonce(),
      file,
      function: name,
      as,
      input,
      timeoutMs,
      next: next?.function ?? null,
      watched,
      time: request.answer === undefined ? (access.time?.() ?? null) : null,
      numbers: this.#ahead.begin(`${file}\n${name}\n${next?.function ?? ''}`, numbers),
    };
  }

  /** Adds the updates of the worker's row cache to a line. */
  #withRows(line: string, { rows }: StoreAccess): string {
    const budget = this.#limits.messageBytes - Buffer.byteLength(line);
    return withRows(line, this.#rowCache.update(rows, budget));
  }

  #take(message: WorkerMessage, request: RunRequest): { value: RunResult } | undefined {
    if (message.type === 'done') return this.#takeResult(message, request);
    if (message.type === 'ask' && request.answer !== undefined)
      void this.#answerLater(message, request.answer);
    else if (message.type === 'ask') this.#answer(message, request.access);
    else this.#channel.kill('protocol'); // a `ready`, `open` or `loaded` out of order
    return undefined;
  }

  #takeResult(message: Ended, request: RunRequest): { value: RunResult } {
    this.#noteEnd(message, request);
    if (!message.leftRunning || isSingleRun(request)) return { value: message.result };
    request.watch?.onLeft();
    this.#log.warn(
      { function: request.function },
      'user code left a thread or a timer: its worker is replaced',
    );
    this.#channel.kill('stopped');
    return { value: this.#kind.language === 'python' ? leftRunning(request) : message.result };
  }

  #answer(ask: Ask, access: StoreAccess): void {
    if (ask.hasLost) this.#rowCache.forget();
    const line = replyTo(ask, access, this.#limits.messageBytes);
    const { entity, field, within } = ask.arguments;
    const isRead = ['get', 'query', 'count'].includes(ask.operation);
    if (isRead && typeof entity === 'string') this.#rowCache.count(entity, line.length);
    const isOfWhole = ask.operation === 'next' && (within ?? null) === null;
    if (isOfWhole && typeof entity === 'string' && typeof field === 'string') {
      this.#ahead.asked(entity, field);
    }
    this.#channel.send(this.#withRows(line, access));
  }

  /** Sends an answer when it is known. Does nothing if the run's process has ended by then. */
  async #answerLater(ask: Ask, answer: NonNullable<RunRequest['answer']>): Promise<void> {
    try {
      const line = await replyLater(ask, answer, this.#limits.messageBytes);
      if (this.#channel.isOpen()) this.#channel.send(line);
    } catch (error) {
      this.#channel.kill('host_fault', error);
    }
  }

  /** Processes what a run reports about itself when it ends. */
  #noteEnd({ type, headers, reads, timed, numbered }: Ended, { access, watch }: RunRequest): void {
    for (const entity of reads) access.rows?.onRead?.(entity);
    if (timed) access.now(); // counts as a request for the time
    if (type === 'done') this.#ahead.ended(numbered);
    watch?.onHeaders(headers);
  }

  /**
   * Returns the result of a run that completed. If the run left something behind, it fails, or its worker is replaced.
   */
  async #settle(request: RunRequest, result: RunResult): Promise<RunResult> {
    const hasNext = this.#channel.isOpen() && !isSingleRun(request);
    if (!hasNext) return result;
    // The memory it used is most likely still held by a variable; even an amount too small to detect could be too much
    // for the next run.
    const hasRunOut = !result.ok && result.error.code === 'out_of_memory';
    const left = hasRunOut ? 'memory' : await findLeftovers(this.#channel, this.#allowed);
    if (left === 'none') return result;
    request.watch?.onLeft();
    this.#log.warn(
      { function: request.function, left },
      'user code left threads, memory or open files behind: its worker is replaced',
    );
    this.#channel.kill('stopped');
    if (left === 'crowd') return tooManyThreads(request, this.#limits);
    return left === 'threads' || left === 'end' ? leftRunning(request) : result;
  }
}

/**
 * Connection to one worker process: one exchange at a time, each with a nonce and a deadline. The host kills the
 * process if it sends a line that belongs to no current exchange or is too long, misses a deadline, or exceeds its
 * memory, output or threads. The current exchange then ends with a description of how the process ended.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '#runtime/log.ts';
import type { UserCodeLimits } from '../run.ts';
import { type Child, type ChildEnd, type Launch, startChild } from './child.ts';
import { createOutput, type Output, type OutputStream } from './output.ts';
import { parseWorkerMessage, type WorkerMessage } from './protocol.ts';
import {
  type Gauge,
  type MemoryPool,
  type Over,
  openGauge,
  type Usage,
  watchProcess,
} from './watch.ts';

/** Reason why the host killed a process. */
export type KillReason =
  | 'timeout'
  | 'stopped'
  | 'protocol'
  | 'too_large'
  | 'too_much_output'
  | 'host_fault'
  | Over;

export type WorkerExit = ChildEnd & {
  /** Reason why the host killed the process; absent if the process ended by itself. */
  killedFor?: KillReason;
  /** Error of the host, if `killedFor` is `host_fault`. */
  fault?: unknown;
  /** Last text that the process wrote to standard error. */
  output: string;
};

export type Exchange<Value> = {
  /**
   * Called for each message of the process. If it returns a value, the exchange ends with it; `again` restarts the
   * deadline and the count of output. If it throws, that is a fault of the host.
   */
  take(message: WorkerMessage): { value: Value } | 'again' | undefined;
  timeoutMs: number;
  /** Signal whose abort has the same effect as the deadline. */
  timeOver?: AbortSignal | undefined;
  /**
   * Signal that is sent to the process when its time is over. The process prints its stack and ends; if it does not
   * end, it is killed soon after.
   */
  lastSignal?: NodeJS.Signals | undefined;
  nonce: string;
};

export type Outcome<Value> = { value: Value } | { exit: WorkerExit };

export type ChannelOptions = {
  launch: Launch;
  limits: UserCodeLimits;
  /** Size of the resident memory, in bytes, at which the process is stopped. */
  residentBytes: number;
  /** Memory pool that the process shares with the host's other processes. */
  pool?: MemoryPool | undefined;
  log: Log;
};

/** Returns a nonce that code in the worker cannot guess. */
export const newNonce = (): string => randomUUID();

/** Time that a process has to print its stack after its deadline, in milliseconds. */
const lastWordsMs = 250;

/** Number of bytes that a message may have in addition to its value. */
const envelopeBytes = 1_024;

type Listener = {
  nonce: string;
  take(message: WorkerMessage): void;
  end(exit: WorkerExit): void;
};

/** Open connection to a process. Constructing it starts the process. */
export class Channel {
  /** Process id, even after the process has ended; undefined if none was started. */
  readonly pid: number | undefined;
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerExit>;
  readonly #options: ChannelOptions;
  readonly #output: Output;
  readonly #child: Child;
  readonly #gauge: Gauge;
  #printedBytes = 0;
  #listener: Listener | undefined;
  #killed: { killedFor: KillReason; fault?: unknown } | undefined;
  #exit: WorkerExit | undefined;

  constructor(options: ChannelOptions) {
    const { launch, limits, pool, log } = options;
    this.#options = options;
    this.#output = createOutput(log, limits.outputBytes);
    this.#child = startChild(launch, {
      maxBytes: limits.messageBytes + envelopeBytes,
      onLine: (line) => this.#onLine(line),
      onTooLong: () => this.kill('too_large'),
      onOutput: (stream, chunk) => this.#onOutput(stream, chunk),
    });
    this.pid = this.#child.pid;
    this.#gauge = openGauge(this.pid);
    const leavePool = pool?.join({
      gauge: this.#gauge,
      onFull: () => this.kill('out_of_memory'),
    });
    this.ended = this.#child.ended.then((end) => {
      leavePool?.();
      return this.#close(end);
    });
  }

  exchange<Value>(exchange: Exchange<Value>, openingLine?: string): Promise<Outcome<Value>> {
    return new Promise((resolve) => {
      if (this.#exit === undefined) this.#begin(exchange, openingLine, resolve);
      else resolve({ exit: this.#exit });
    });
  }

  send(line: string): void {
    this.#child.send(line);
  }

  kill(killedFor: KillReason, fault?: unknown): void {
    this.#killed ??= { killedFor, fault };
    this.#child.kill();
  }

  /** Returns true until the process ends, or the host decides to kill it. */
  isOpen(): boolean {
    return this.#killed === undefined && this.#exit === undefined;
  }

  /** Returns the process's resource usage as the system measures it; undefined if it cannot be measured. */
  usage(): Usage | undefined {
    return this.#gauge.read();
  }

  #begin<Value>(
    { take, timeoutMs, timeOver, lastSignal, nonce }: Exchange<Value>,
    openingLine: string | undefined,
    resolve: (outcome: Outcome<Value>) => void,
  ): void {
    const { limits, residentBytes, pool } = this.#options;
    const onTimeOver = (): void => this.#expire(lastSignal);
    const deadline = setTimeout(onTimeOver, timeoutMs);
    timeOver?.addEventListener('abort', onTimeOver);
    const most = { residentBytes, threads: limits.threads };
    const watch = watchProcess(this.#gauge, most, (over) => this.kill(over), pool);
    const finish = (outcome: Outcome<Value>): void => {
      clearTimeout(deadline);
      timeOver?.removeEventListener('abort', onTimeOver);
      watch.stop();
      this.#listener = undefined;
      resolve(outcome);
    };
    this.#listener = {
      nonce,
      end: (exit) => finish({ exit }),
      take: (message) => {
        try {
          const taken = take(message);
          if (taken === 'again') {
            deadline.refresh();
            this.#resetOutput();
          } else if (taken !== undefined) finish(taken);
        } catch (fault) {
          this.kill('host_fault', fault);
        }
      },
    };
    this.#resetOutput();
    if (openingLine !== undefined) this.send(openingLine);
    if (timeOver?.aborted) onTimeOver();
  }

  #resetOutput(): void {
    this.#output.reset();
    this.#printedBytes = 0;
  }

  /** Ends the exchange at its deadline. Messages that the process sends afterwards are ignored. */
  #expire(lastSignal: NodeJS.Signals | undefined): void {
    this.#killed ??= { killedFor: 'timeout' };
    if (lastSignal === undefined) {
      this.#child.kill();
    } else {
      this.#child.signal(lastSignal);
      setTimeout(() => this.#child.kill(), lastWordsMs).unref();
    }
  }

  #onLine(line: string): void {
    if (this.#killed !== undefined) return;
    const message = parseWorkerMessage(line);
    if (message !== undefined && message.nonce === this.#listener?.nonce) {
      this.#listener.take(message);
    } else {
      const start = line.slice(0, 200);
      this.#options.log.warn({ line: start }, 'user code wrote to the channel of its worker');
      this.kill('protocol');
    }
  }

  #onOutput(stream: OutputStream, chunk: Buffer): void {
    this.#output.take(stream, chunk);
    this.#printedBytes += chunk.length;
    if (this.#printedBytes > this.#options.limits.runOutputBytes) this.kill('too_much_output');
  }

  #close(end: ChildEnd): WorkerExit {
    this.#gauge.close();
    const exit = { ...end, ...this.#killed, output: this.#output.tail() };
    this.#exit = exit;
    this.#listener?.end(exit);
    return exit;
  }
}

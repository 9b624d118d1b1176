/**
 * The line to one worker process: one exchange at a time, each with its nonce and its deadline. A line
 * that belongs to no exchange under way, one that is too long, a deadline that passes, and more memory,
 * threads or output than a worker may have all kill the process; an exchange then ends with how the
 * process did.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '#runtime/log.ts';
import { type ChildEnd, type Launch, startChild } from './child.ts';
import { createOutput } from './output.ts';
import { parseWorkerMessage, type WorkerMessage } from './protocol.ts';
import type { UserCodeLimits } from './run.ts';
import { type MemoryPool, type Over, openGauge, type Usage, watchProcess } from './watch.ts';

/** Why the host killed a process. */
export type KillReason =
  | 'timeout'
  | 'stopped'
  | 'protocol'
  | 'too_large'
  | 'too_much_output'
  | 'host_fault'
  | Over;

export type WorkerExit = ChildEnd & {
  /** Absent when the process ended by itself. */
  killedFor?: KillReason;
  /** What was thrown, for `host_fault`. */
  fault?: unknown;
  /** The end of what the process wrote to its standard error. */
  output: string;
};

export type Exchange<Value> = {
  /**
   * Called for each message; a value ends the exchange, and after `again` its time and its output begin
   * anew. What it throws is a fault of the host.
   */
  take(message: WorkerMessage): { value: Value } | 'again' | undefined;
  timeoutMs: number;
  /** Its time is over when this aborts, too. */
  timeOver?: AbortSignal | undefined;
  /** Has the process say where it stands, and end, when its time is over; it is killed soon after. */
  lastSignal?: NodeJS.Signals | undefined;
  nonce: string;
};

export type Outcome<Value> = { value: Value } | { exit: WorkerExit };

export type Channel = {
  pid: number | undefined;
  exchange<Value>(exchange: Exchange<Value>, openingLine?: string): Promise<Outcome<Value>>;
  send(line: string): void;
  kill(reason: KillReason, fault?: unknown): void;
  isOpen(): boolean;
  /** What the system says of the process. */
  usage(): Usage | undefined;
  ended: Promise<WorkerExit>;
};

export type ChannelOptions = {
  launch: Launch;
  limits: UserCodeLimits;
  /** Memory at which the process is stopped. */
  residentBytes: number;
  /** What it shares with the host's other processes. */
  pool?: MemoryPool | undefined;
  log: Log;
};

/** A nonce that code in the worker cannot guess before it has seen it. */
export const newNonce = (): string => randomUUID();

/** How long a process whose time is over may take to say where it stands. */
const lastWordsMs = 250;

/** Room for what stands around a value in a message. */
const envelopeBytes = 1_024;

type Listener = {
  nonce: string;
  take(message: WorkerMessage): void;
  end(exit: WorkerExit): void;
};

export const openChannel = (options: ChannelOptions): Channel => {
  const { launch, limits, residentBytes, pool, log } = options;
  const output = createOutput(log, limits.outputBytes);
  let printedBytes = 0;
  let listener: Listener | undefined;
  let killed: { killedFor: KillReason; fault?: unknown } | undefined;
  let over: WorkerExit | undefined;

  const kill = (killedFor: KillReason, fault?: unknown): void => {
    killed ??= { killedFor, fault };
    child.kill();
  };

  /** Its time is over: from here on nothing that it says counts. */
  const expire = (lastSignal: NodeJS.Signals | undefined): void => {
    killed ??= { killedFor: 'timeout' };
    if (lastSignal === undefined) {
      child.kill();
    } else {
      child.signal(lastSignal);
      setTimeout(child.kill, lastWordsMs).unref();
    }
  };

  const onLine = (line: string): void => {
    if (killed !== undefined) return;
    const message = parseWorkerMessage(line);
    if (message !== undefined && message.nonce === listener?.nonce) {
      listener.take(message);
    } else {
      log.warn({ line: line.slice(0, 200) }, 'user code wrote to the channel of its worker');
      kill('protocol');
    }
  };

  const child = startChild(launch, {
    maxBytes: limits.messageBytes + envelopeBytes,
    onLine,
    onTooLong: () => kill('too_large'),
    onOutput(stream, chunk) {
      output.take(stream, chunk);
      printedBytes += chunk.length;
      if (printedBytes > limits.runOutputBytes) kill('too_much_output');
    },
  });
  const gauge = openGauge(child.pid);
  const leavePool = pool?.join({ gauge, onFull: () => kill('out_of_memory') });
  const ended = child.ended.then((end): WorkerExit => {
    leavePool?.();
    gauge.close();
    const exit = { ...end, ...killed, output: output.tail() };
    over = exit;
    listener?.end(exit);
    return exit;
  });

  const exchange = <Value>(
    { take, timeoutMs, timeOver, lastSignal, nonce }: Exchange<Value>,
    openingLine?: string,
  ): Promise<Outcome<Value>> =>
    new Promise((resolve) => {
      if (over !== undefined) return resolve({ exit: over });
      const onTimeOver = (): void => expire(lastSignal);
      const deadline = setTimeout(onTimeOver, timeoutMs);
      const begin = (): void => {
        deadline.refresh();
        output.reset();
        printedBytes = 0;
      };
      timeOver?.addEventListener('abort', onTimeOver);
      const most = { residentBytes, threads: limits.threads };
      const watch = watchProcess(gauge, most, kill, pool);
      const finish = (outcome: Outcome<Value>): void => {
        clearTimeout(deadline);
        timeOver?.removeEventListener('abort', onTimeOver);
        watch.stop();
        listener = undefined;
        resolve(outcome);
      };
      listener = {
        nonce,
        end: (exit) => finish({ exit }),
        take(message) {
          try {
            const taken = take(message);
            if (taken === 'again') begin();
            else if (taken !== undefined) finish(taken);
          } catch (fault) {
            kill('host_fault', fault);
          }
        },
      };
      begin();
      if (openingLine !== undefined) child.send(openingLine);
      if (timeOver?.aborted) onTimeOver();
    });

  return {
    pid: child.pid,
    exchange,
    send: child.send,
    kill,
    usage: gauge.read,
    isOpen: () => killed === undefined && over === undefined,
    ended,
  };
};

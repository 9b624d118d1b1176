/**
 * Connection to one worker process: one exchange at a time, each with a nonce and a deadline. The host kills the
 * process for a line that belongs to no current exchange or is too long, and for a missed deadline. It also does so
 * for too much memory, output or threads. A pending exchange then ends with the way in which the process ended.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '#runtime/log.ts';
import type { UserCodeLimits } from '../run.ts';
import { type ChildEnd, type Launch, startChild } from './child.ts';
import { createOutput } from './output.ts';
import { parseWorkerMessage, type WorkerMessage } from './protocol.ts';
import { type MemoryPool, type Over, openGauge, type Usage, watchProcess } from './watch.ts';

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
  /** Absent if the process ended by itself. */
  killedFor?: KillReason;
  /** Error that was thrown, for `host_fault`. */
  fault?: unknown;
  /** End of the process's standard error. */
  output: string;
};

export type Exchange<Value> = {
  /**
   * Called for each message. A returned value ends the exchange; `again` restarts its deadline and its output count.
   * An exception is a fault of the host.
   */
  take(message: WorkerMessage): { value: Value } | 'again' | undefined;
  timeoutMs: number;
  /** Signal whose abort also ends the exchange's time. */
  timeOver?: AbortSignal | undefined;
  /**
   * Signal on which the process prints its stack and ends, sent when the time is over; the process is killed soon
   * after.
   */
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
  /** Returns the process's resource usage, measured by the system. */
  usage(): Usage | undefined;
  ended: Promise<WorkerExit>;
};

export type ChannelOptions = {
  launch: Launch;
  limits: UserCodeLimits;
  /** Resident memory at which the process is stopped. */
  residentBytes: number;
  /** Memory pool that the process shares with the host's other processes. */
  pool?: MemoryPool | undefined;
  log: Log;
};

/** Returns a nonce that code in the worker cannot guess before it has seen it. */
export const newNonce = (): string => randomUUID();

/** Time that a process has to print its stack after its deadline. */
const lastWordsMs = 250;

/** Extra bytes allowed in a message around its value. */
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

  /** Handles the deadline; messages of the process are ignored from here on. */
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

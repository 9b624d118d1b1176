/**
 * The line to one worker process: one exchange at a time, each with its nonce and its deadline. A line
 * that belongs to no exchange under way, one that is too long, and a deadline that passes all kill the
 * process; an exchange then ends with how the process did.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '#runtime/log.ts';
import { type ChildEnd, type Launch, startChild } from './child.ts';
import { createOutput } from './output.ts';
import { type HostMessage, parseWorkerMessage, type WorkerMessage } from './protocol.ts';
import type { UserCodeLimits } from './run.ts';

/** Why the host killed a process. */
export type KillReason = 'timeout' | 'stopped' | 'protocol' | 'too_large' | 'host_fault';

export type Ending = ChildEnd & {
  /** Absent when the process ended by itself. */
  killedFor?: KillReason;
  /** What was thrown, for `host_fault`. */
  fault?: unknown;
  /** The end of what the process wrote to its standard error. */
  output: string;
};

export type Exchange<Value> = {
  /** Called for each message; a value ends the exchange. What it throws is a fault of the host. */
  take(message: WorkerMessage): { value: Value } | undefined;
  timeoutMs: number;
  nonce: string;
};

export type Outcome<Value> = { value: Value } | { ending: Ending };

export type Channel = {
  exchange<Value>(exchange: Exchange<Value>, opening?: HostMessage): Promise<Outcome<Value>>;
  send(message: HostMessage): void;
  kill(reason: KillReason): void;
  isOpen(): boolean;
  ended: Promise<Ending>;
};

/** A nonce that code in the worker cannot guess before it has seen it. */
export const newNonce = (): string => randomUUID();

/** Room for what stands around a value in a message. */
const envelopeBytes = 1_024;

type Listener = { nonce: string; take(message: WorkerMessage): void };

export const openChannel = (launch: Launch, limits: UserCodeLimits, log: Log): Channel => {
  const output = createOutput(log, limits.outputBytes);
  let listener: Listener | undefined;
  let killed: { killedFor: KillReason; fault?: unknown } | undefined;
  let isOver = false;

  const kill = (killedFor: KillReason, fault?: unknown): void => {
    killed ??= { killedFor, fault };
    child.kill();
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
    onOutput: output.take,
  });
  const ended = child.ended.then((end): Ending => {
    isOver = true;
    return { ...end, ...killed, output: output.tail() };
  });

  const exchange: Channel['exchange'] = async ({ take, timeoutMs, nonce }, opening) => {
    const done = Promise.withResolvers<Awaited<ReturnType<typeof exchange>>>();
    const deadline = setTimeout(() => kill('timeout'), timeoutMs);
    output.reset();
    const mine: Listener = {
      nonce,
      take(message) {
        try {
          const finished = take(message);
          if (finished === undefined) return;
          listener = undefined;
          done.resolve(finished as never);
        } catch (fault) {
          kill('host_fault', fault);
        }
      },
    };
    listener = mine;
    if (opening !== undefined) child.send(JSON.stringify(opening));
    const outcome = await Promise.race([done.promise, ended.then((ending) => ({ ending }))]);
    clearTimeout(deadline);
    if (listener === mine) listener = undefined;
    return outcome as never;
  };

  return {
    exchange,
    send: (message) => child.send(JSON.stringify(message)),
    kill,
    isOpen: () => killed === undefined && !isOver,
    ended,
  };
};

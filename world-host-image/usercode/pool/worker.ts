/**
 * One worker: a process that holds a loaded code directory and runs one request at a time. It is killed if a run
 * exceeds its time limit, breaks the protocol or leaves something running. A dead worker stays dead, and its queue
 * (`worker-queue.ts`) starts another.
 */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { newNonce, openChannel, type WorkerExit } from '../boundary/channel.ts';
import { describeEnd } from '../boundary/child.ts';
import {
  describeSize,
  failed,
  leftRunning,
  resultOfExit,
  tooManyThreads,
} from '../boundary/exit.ts';
import {
  type HostMessage,
  type Refusal,
  tooDeep,
  type WorkerMessage,
  withRows,
} from '../boundary/protocol.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import { createHeldRows, heldLimits } from '../rows/held-rows.ts';
import { createNumbersAhead } from '../rows/numbers-ahead.ts';
import { refusalOf, runOperation } from '../rows/operations.ts';
import type { RunRequest, RunResult, StoreAccess, UserCodeLimits } from '../run.ts';
import { type Allowed, findLeftovers } from './leftovers.ts';

export type Worker = {
  /** Process id, even after the process has ended; undefined if none was started. */
  pid: number | undefined;
  /** Rejects with `unavailable` if the process does not come up. */
  ready: Promise<void>;
  /**
   * Resolves with the reasons why files could not be imported; undefined if importing them killed the worker, because
   * it hung or ended the process.
   */
  load(directory: string, eager: boolean): Promise<readonly string[] | undefined>;
  run(request: RunRequest): Promise<RunResult>;
  isAlive(): boolean;
  isLoaded(): boolean;
  /** Kills the process and resolves when it is gone. */
  stop(): Promise<void>;
};

type Ask = Extract<WorkerMessage, { type: 'ask' }>;
type Ended = Extract<WorkerMessage, { type: 'done' | 'next' }>;

/** Encodes a message as a line; returns undefined if it exceeds the maximum size. */
const encode = (message: HostMessage, maxBytes: number): string | undefined => {
  const line = JSON.stringify(message);
  return Buffer.byteLength(line) <= maxBytes ? line : undefined;
};

const mebibyte = 1024 * 1024;

const tooLarge = ({ arguments: { entity } }: Ask, detail: string): Refusal => ({
  entity: typeof entity === 'string' ? entity : '',
  kind: 'too_large',
  detail,
  field: null,
  pointer: null,
});

const tooManyRows = (maxBytes: number): string =>
  `more than ${describeSize(maxBytes)} of rows: ask for fewer with limit and offset`;

/** Builds the line that answers one store operation; throws only for a fault of the host. */
const replyTo = (ask: Ask, access: StoreAccess, maxBytes: number): string => {
  const { nonce, id } = ask;
  const refusalLine = (refusal: Refusal): string =>
    JSON.stringify({ type: 'reply', nonce, id, refusal } satisfies HostMessage);
  if (ask.isTooDeep) return refusalLine(tooLarge(ask, `what is given ${tooDeep}`));
  try {
    const value = runOperation(access, ask.operation, ask.arguments);
    // The nonce needs no escaping, because the host made it.
    const line = `{"type":"reply","nonce":"${nonce}","id":${id},"value":${value}}`;
    const isShort = Buffer.byteLength(line) <= maxBytes;
    return isShort ? line : refusalLine(tooLarge(ask, tooManyRows(maxBytes)));
  } catch (error) {
    const refusal = refusalOf(error, ask.arguments);
    if (refusal === undefined) throw error;
    return refusalLine(refusal);
  }
};

/** Returns true if the process serves no other run that leftovers could disturb. */
const isAlone = ({ as }: RunRequest): boolean => as === 'verify' || as === 'tests';

const startFailure = (language: string, exit: WorkerExit): AppError => {
  const why = exit.killedFor === 'timeout' ? 'not in time' : describeEnd(exit);
  const said = exit.output.trim().split('\n').at(-1) ?? '';
  const message = `the ${language} worker did not start: ${why}${said === '' ? '' : ` (${said})`}`;
  return new AppError('unavailable', message);
};

/** Starts a worker's process. */
export const startWorker = (kind: WorkerKind, limits: UserCodeLimits, log: Log): Worker => {
  const channel = openChannel({
    launch: kind.launch,
    limits,
    residentBytes: (kind.ownMb + limits.memoryMb) * mebibyte,
    pool: kind.pool,
    log: log.child({ language: kind.language }),
  });
  const allowed: Allowed = {
    threads: Number.POSITIVE_INFINITY, // until it is ready
    runThreads: limits.threads,
    residentBytes: (kind.ownMb + limits.memoryMb / 2) * mebibyte,
  };
  const held = createHeldRows(heldLimits(limits.memoryMb));
  const ahead = createNumbersAhead();
  let directory: string | undefined;

  /**
   * Sets the allowed threads to those present now: the language's own, and those started by imports. No run left
   * these.
   */
  const allowPresentThreads = (): void => {
    const usage = channel.usage();
    if (usage !== undefined) allowed.threads = usage.threads + kind.laterThreads;
  };

  const awaitReady = async (): Promise<void> => {
    const outcome = await channel.exchange({
      nonce: '',
      timeoutMs: limits.startMs,
      take(message) {
        if (message.type !== 'open') return { value: true };
        kind.onOpen?.(message.missing);
        return undefined;
      },
    });
    if ('exit' in outcome) throw startFailure(kind.language, outcome.exit);
    allowPresentThreads();
  };

  const load: Worker['load'] = async (to, eager) => {
    directory = to;
    const nonce = newNonce();
    const outcome = await channel.exchange(
      {
        nonce,
        timeoutMs: limits.loadMs,
        take: (message) => ({ value: message.type === 'loaded' ? message.failures : [] }),
      },
      JSON.stringify({ type: 'load', nonce, directory: to, eager } satisfies HostMessage),
    );
    allowPresentThreads();
    return 'value' in outcome ? outcome.value : undefined;
  };

  /** Adds the updates of the worker's row cache to a line. */
  const withHeld = (line: string, { rows }: StoreAccess): string =>
    withRows(line, held.update(rows, limits.messageBytes - Buffer.byteLength(line)));

  const answer = (ask: Ask, access: StoreAccess): void => {
    if (ask.hasLost) held.forget();
    const line = replyTo(ask, access, limits.messageBytes);
    const { entity, field, within } = ask.arguments;
    const isRead = ['get', 'query', 'count'].includes(ask.operation);
    if (isRead && typeof entity === 'string') held.count(entity, line.length);
    const isOfWhole = ask.operation === 'next' && (within ?? null) === null;
    if (isOfWhole && typeof entity === 'string' && typeof field === 'string') {
      ahead.asked(entity, field);
    }
    channel.send(withHeld(line, access));
  };

  /** Sends an answer when it is known, unless the run's process is gone by then. */
  const answerLater = async (
    { nonce, id, operation, arguments: given, isTooDeep }: Ask,
    reply: NonNullable<RunRequest['answer']>,
  ): Promise<void> => {
    const say = (message: HostMessage): string | undefined => encode(message, limits.messageBytes);
    const refuse = (refusal: Refusal): string =>
      JSON.stringify({ type: 'reply', nonce, id, refusal } satisfies HostMessage);
    const large = { entity: operation, kind: 'too_large', field: null, pointer: null };
    try {
      const value = isTooDeep ? undefined : ((await reply(operation, given)) ?? null);
      const line =
        value === undefined
          ? refuse({ ...large, detail: `what is given ${tooDeep}` })
          : (say({ type: 'reply', nonce, id, value }) ??
            refuse({
              ...large,
              detail: `the answer is over ${describeSize(limits.messageBytes)}`,
            }));
      if (channel.isOpen()) channel.send(line);
    } catch (error) {
      const refusal = refusalOf(error, given);
      if (refusal === undefined) channel.kill('host_fault', error);
      else if (channel.isOpen()) channel.send(refuse(refusal));
    }
  };

  /** Processes what a run reports about itself at its end. */
  const hear = (
    { type, headers, reads, timed, numbered }: Ended,
    { access, watch }: RunRequest,
  ): void => {
    for (const entity of reads) access.rows?.onRead?.(entity);
    if (timed) access.now(); // counts as a request for the time
    if (type === 'done') ahead.ended(numbered);
    watch?.onHeaders(headers);
  };

  const take = (message: WorkerMessage, request: RunRequest): { value: RunResult } | undefined => {
    const { access, function: name } = request;
    if (message.type === 'done') {
      hear(message, request);
      if (!message.leftRunning || isAlone(request)) return { value: message.result };
      request.watch?.onLeft();
      log.warn({ function: name }, 'user code left a thread or a timer: its worker is replaced');
      channel.kill('stopped');
      return { value: kind.language === 'python' ? leftRunning(request) : message.result };
    }
    if (message.type === 'ask' && request.answer !== undefined)
      void answerLater(message, request.answer);
    else if (message.type === 'ask') answer(message, access);
    else channel.kill('protocol'); // a `ready`, `open` or `loaded` out of order
    return undefined;
  };

  /** Returns the result of a run that completed. Leftovers make it fail, or cost its worker. */
  const settle = async (request: RunRequest, result: RunResult): Promise<RunResult> => {
    const hasNext = channel.isOpen() && !isAlone(request);
    if (!hasNext) return result;
    // The memory it used is most likely still held by a variable; even an amount too small to detect could be too much
    // for the next run.
    const hasRunOut = !result.ok && result.error.code === 'out_of_memory';
    const left = hasRunOut ? 'memory' : await findLeftovers(channel, allowed);
    if (left === 'none') return result;
    request.watch?.onLeft();
    log.warn(
      { function: request.function, left },
      'user code left something: its worker is replaced',
    );
    channel.kill('stopped');
    if (left === 'crowd') return tooManyThreads(request, limits);
    return left === 'threads' || left === 'end' ? leftRunning(request) : result;
  };

  const run: Worker['run'] = async (begun) => {
    const { file, function: name, as, input, timeoutMs } = begun;
    const nonce = newNonce();
    const watched = begun.watch !== undefined;
    let next = begun.as === 'before' ? begun.next : undefined;
    /** Request that runs now. */
    let request = begun;
    // An observed run must see each request for a number, so none are prefetched for it.
    const numbers = watched || begun.answer !== undefined ? undefined : begun.access.nextInteger;
    const message: HostMessage = {
      type: 'run',
      nonce,
      file,
      function: name,
      as,
      input,
      timeoutMs,
      next: next?.function ?? null,
      watched,
      time: request.answer === undefined ? (request.access.time?.() ?? null) : null,
      numbers: ahead.begin(`${file}\n${name}\n${next?.function ?? ''}`, numbers),
    };
    const line = encode(message, limits.messageBytes);
    if (line === undefined) {
      return failed('too_large', `the input is over ${describeSize(limits.messageBytes)}`);
    }
    let startedAt = performance.now();
    /** Like `take`, but also handles that `before` has ended and the handler begins. */
    const takeUnderWay = (said: WorkerMessage): ReturnType<typeof take> | 'again' => {
      if (said.type !== 'next' || next === undefined) return take(said, request);
      hear(said, request);
      next.onBegin(said.result);
      request = { ...begun, as: 'handler', function: next.function } as RunRequest;
      next = undefined;
      startedAt = performance.now();
      return 'again';
    };
    const outcome = await channel.exchange(
      {
        ...{ nonce, timeoutMs, timeOver: request.timeOver, lastSignal: kind.lastSignal },
        take: takeUnderWay,
      },
      withHeld(line, begun.access),
    );
    // A grader's process has no next run that leftovers could disturb.
    if ('value' in outcome)
      return isAlone(request) ? outcome.value : settle(request, outcome.value);
    const { exit } = outcome;
    const elapsedMs = performance.now() - startedAt;
    const trace = kind.readTimeoutTrace(exit.output, directory ?? '');
    return resultOfExit({ exit, request, limits, elapsedMs, trace });
  };

  return {
    pid: channel.pid,
    ready: awaitReady(),
    load,
    run,
    isAlive: channel.isOpen,
    isLoaded: () => directory !== undefined,
    async stop() {
      channel.kill('stopped');
      await channel.ended;
    },
  };
};

/**
 * The host's line to the control plane: each message is sent until it is answered. All messages of a
 * host may be repeated, because they name the call or the step that they are about.
 *
 * What the control plane refuses (a stale generation above all) is thrown; the host then stops. So it
 * does when the control plane could not be reached for a long time: its session has ended by then.
 */
import type { Readable } from 'node:stream';
import { backoffMs } from '#domain/backoff.ts';
import { AppError, describeError, type ErrorCode } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import type { StreamingClient } from '#wire/client.ts';
import type { Answer, ClientInput, OperationShape } from '#wire/operation.ts';

/** Who the host is towards the control plane, shared by all that speak in its name. */
export type HostIdentity = {
  readonly hostId: string;
  /** At first that of the launch; assignments and their ends raise it. */
  generation: number;
  /** The session that it was given, until that is closed: every line of the log names it. */
  sessionId?: string | undefined;
};

export type SendOptions = {
  /** Ends the sending; what is under way is dropped. */
  signal: AbortSignal;
  /** How long the answer may be held back by the control plane, for long polls. */
  holdSeconds?: number;
};

export type ControlLink = {
  /** Sends until there is an answer. Throws `AppError` for a refusal, and the signal's reason. */
  send<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
    options: SendOptions,
  ): Promise<Answer<Shape>['body']>;
  /** Sends once. */
  sendOnce<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
    options: SendOptions,
  ): Promise<Answer<Shape>['body']>;
};

/** As it is made: it can also read answers piece by piece. */
export type StreamingLink = ControlLink & {
  /** Sends until an answer begins that is read piece by piece; what breaks it off is told by the stream. */
  stream<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
    options: Pick<SendOptions, 'signal'>,
  ): Promise<Readable>;
};

export type ControlLinkOptions = {
  client: StreamingClient;
  log: Log;
  /** Silence after which the control plane is given up. */
  giveUpMs: number;
};

/** Time beyond the hold in which an answer must come; a connection that is silent longer is dead. */
const answerMs = 10_000;
const pauses = { firstMs: 50, mostMs: 2_000 };

/** What may pass. All else is a refusal. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'timeout',
  'exhausted',
  'internal',
]);

/** Whether the control plane will never take this message, whoever repeats it. */
export const isRefused = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'invalid';

/** Whether what the message is about is not this host's any more: its generation is an older one. */
export const isStale = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'conflict';

/** Returns true for an error after which the same message may be taken. */
export const mayPass = (error: unknown): boolean =>
  error instanceof AppError && passing.has(error.code);

export const createControlLink = ({ client, log, giveUpMs }: ControlLinkOptions): StreamingLink => {
  let lastAnswerAt = performance.now();

  const sendOnce: ControlLink['sendOnce'] = async (shape, input, { signal, holdSeconds = 0 }) => {
    const patienceMs = holdSeconds * 1000 + answerMs;
    const { body } = await client.send(shape, { ...input, signal, answerMs: patienceMs });
    lastAnswerAt = performance.now();
    return body;
  };

  /** Does it until there is an answer. */
  const repeat = async <Value>(
    { id }: OperationShape,
    signal: AbortSignal,
    ask: () => Promise<Value>,
  ): Promise<Value> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await ask();
      } catch (error) {
        signal.throwIfAborted();
        if (!mayPass(error)) throw error;
        if (performance.now() - lastAnswerAt > giveUpMs) {
          throw new AppError('timeout', `no answer of the control plane in ${giveUpMs} ms`, {
            cause: error,
          });
        }
        const level = failures === 1 ? 'warn' : 'debug';
        log[level]({ operation: id, failures }, `will repeat: ${describeError(error)}`);
        await pause(backoffMs(failures, pauses), signal);
      }
    }
  };

  return {
    sendOnce,
    send: (shape, input, options) =>
      repeat(shape, options.signal, () => sendOnce(shape, input, options)),
    stream: (shape, input, { signal }) =>
      repeat(shape, signal, async () => {
        const stream = await client.stream(shape, { ...input, signal });
        lastAnswerAt = performance.now();
        return stream;
      }),
  };
};

/**
 * Client with which a host sends messages to the control plane. It repeats each message until it is answered. All
 * messages of a host are safe to repeat, because they name their call or step. If the control plane refuses a message,
 * for example because of a stale generation, the refusal is thrown and the host stops. The host also stops if the
 * control plane could not be reached for a long time, since the host's session has ended by then.
 */
import type { Readable } from 'node:stream';
import { backoffMs } from '#domain/backoff.ts';
import { AppError, describeError, type ErrorCode } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import type { StreamingClient } from '#wire/client.ts';
import type { Answer, ClientInput, OperationShape } from '#wire/operation.ts';

/** Identity of the host towards the control plane, shared by all code that sends messages for it. */
export type HostIdentity = {
  readonly hostId: string;
  /** Generation of the host. It begins with that of the launch; assignments and ends of sessions raise it. */
  generation: number;
  /** Session assigned to the host, until it is closed. Every line of the log contains it. */
  sessionId?: string | undefined;
};

export type SendOptions = {
  /** Signal that ends the sending and aborts the pending request. */
  signal: AbortSignal;
  /** Longest time, in seconds, that the control plane may hold the answer back, for long polls. */
  holdSeconds?: number;
};

export type ControlLink = {
  /**
   * Sends the message until an answer arrives. Throws `AppError` for a refusal, and the signal's reason if the signal
   * aborts.
   */
  send<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
    options: SendOptions,
  ): Promise<Answer<Shape>['body']>;
  /** Sends the message once, without repeating it. */
  sendOnce<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
    options: SendOptions,
  ): Promise<Answer<Shape>['body']>;
};

/** Link that can also read answers as streams. */
export type StreamingLink = ControlLink & {
  /**
   * Sends the message until an answer begins, and returns its body as a stream. A later failure is an error of the
   * stream.
   */
  stream<Shape extends OperationShape>(
    shape: Shape,
    input: ClientInput<Shape>,
    options: Pick<SendOptions, 'signal'>,
  ): Promise<Readable>;
};

export type ControlLinkOptions = {
  client: StreamingClient;
  log: Log;
  /** Time without an answer after which the control plane counts as lost, in milliseconds. */
  giveUpMs: number;
};

/**
 * Time, in milliseconds, within which an answer must arrive once the hold of a long poll is over. A connection that is
 * silent for longer counts as broken.
 */
const answerMs = 10_000;
const pauses = { firstMs: 50, mostMs: 2_000 };

/** Errors that may be temporary. All others are refusals. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'timeout',
  'exhausted',
  'internal',
]);

/** Returns true if the control plane would never accept this message, even if it were repeated. */
export const isRefused = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'invalid';

/** Returns true if the host no longer owns the session or call of the message, because its generation is outdated. */
export const isStale = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'conflict';

/** Returns true for an error that may be temporary, so that repeating the message can succeed. */
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

  /** Repeats the request until it is answered. */
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
          throw new AppError('timeout', `no answer from the control plane in ${giveUpMs} ms`, {
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

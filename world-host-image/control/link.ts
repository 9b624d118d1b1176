/**
 * The host's line to the control plane: each message is sent until it is answered. All messages of a
 * host may be repeated, because they name the call or the step that they are about.
 *
 * What the control plane refuses (a stale generation above all) is thrown; the host then stops. So it
 * does when the control plane could not be reached for a long time: its session has ended by then.
 */
import { backoffMs } from '#domain/backoff.ts';
import { AppError, describeError, type ErrorCode } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
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

export type ControlLinkOptions = {
  client: Client;
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

const mayPass = (error: unknown): boolean => error instanceof AppError && passing.has(error.code);

export const createControlLink = ({ client, log, giveUpMs }: ControlLinkOptions): ControlLink => {
  let lastAnswerAt = performance.now();

  const sendOnce: ControlLink['sendOnce'] = async (shape, input, { signal, holdSeconds = 0 }) => {
    const patienceMs = holdSeconds * 1000 + answerMs;
    const { body } = await client.send(shape, { ...input, signal, answerMs: patienceMs });
    lastAnswerAt = performance.now();
    return body;
  };

  return {
    sendOnce,
    async send(shape, input, options) {
      for (let failures = 1; ; failures += 1) {
        try {
          return await sendOnce(shape, input, options);
        } catch (error) {
          options.signal.throwIfAborted();
          if (!mayPass(error)) throw error;
          if (performance.now() - lastAnswerAt > giveUpMs) {
            throw new AppError('timeout', `no answer of the control plane in ${giveUpMs} ms`, {
              cause: error,
            });
          }
          const level = failures === 1 ? 'warn' : 'debug';
          log[level]({ operation: shape.id, failures }, `will repeat: ${describeError(error)}`);
          await pause(backoffMs(failures, pauses), options.signal);
        }
      }
    },
  };
};

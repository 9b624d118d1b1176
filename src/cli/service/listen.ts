/**
 * Forwards the webhook deliveries of a session to one receiver, and stores the receiver's answers in the service. Each
 * request asks for deliveries after the last one seen, so none is read twice or missed. The service holds its answer
 * until there is a delivery. Failed requests are repeated until they succeed or the command is interrupted.
 * Deliveries to one subscription are sent in order, one at a time; those to several subscriptions are sent
 * concurrently.
 */
import { backoffMs } from '#domain/backoff.ts';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { SessionState } from '#domain/session.ts';
import { pause } from '#runtime/pause.ts';
import type { Client } from '#wire/client.ts';
import { answerDeliveries, listDeliveries, listWebhooks } from '#wire/public-api/operations.ts';
import type {
  AnswersBody,
  AnswersView,
  DeliveryList,
  DeliveryView,
} from '#wire/public-api/sessions/delivery.ts';
import type { ForwardedDelivery } from '../views/webhooks.ts';
import { type AnswerWriter, createAnswerWriter } from './answer-writer.ts';
import { forward } from './forward.ts';
import { KeyedQueue } from './keyed-queue.ts';

export type ListenOptions = {
  client: Client;
  sessionId: string;
  target: URL;
  /** True to also forward deliveries that the session made before the command. */
  replay: boolean;
  /** True to end once all deliveries that exist at the start of the command are forwarded. */
  once: boolean;
  /** Interval between two polls, in milliseconds. Absent: the service holds its answer until there is a delivery. */
  intervalMs?: number | undefined;
  signal: AbortSignal;
  /** Timeout of the receiver's answer, in milliseconds; shorter only in tests. */
  receiverMs?: number;
  onForwarded(done: ForwardedDelivery): void;
  /** Called when the service cannot be reached, only once for consecutive failures. */
  onAway(error: AppError): void;
};

/**
 * Reason why the command ends: all existing deliveries were forwarded, the session has ended, or the command was
 * interrupted.
 */
export type ListenEnd =
  | { kind: 'done'; state: SessionState; isOver: boolean }
  | { kind: 'over'; state: SessionState }
  | { kind: 'interrupted' };

const holdSeconds = 25;
const pauses = { firstMs: 250, mostMs: 5_000 };
/**
 * Maximum number of deliveries that are forwarded concurrently, and maximum number that are held in memory. The last
 * page that was read may exceed the second maximum.
 */
const forwardedAtOnce = 16;
const mostHeld = 100;
/** Maximum wait of `once` for deliveries that the session's host has not uploaded yet, in milliseconds. */
const settleMs = 15_000;
const beyondAll = 2 ** 31 - 1;

const lasting: readonly AppError['code'][] = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
];

/** Repeats the work until it succeeds, fails permanently, or is interrupted. */
const patiently = async <Value>(
  { signal, onAway }: ListenOptions,
  work: () => Promise<Value>,
): Promise<Value> => {
  for (let failures = 0; ; ) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError) || lasting.includes(error.code)) throw error;
      failures += 1;
      if (failures === 1) onAway(error);
      await pause(backoffMs(failures, pauses), signal);
      signal.throwIfAborted();
    }
  }
};

const read = (options: ListenOptions, after: number, wait: number): Promise<DeliveryList> => {
  const { client, sessionId, signal } = options;
  const query = { after, ...(wait === 0 ? {} : { wait }) };
  return patiently(options, async () => {
    const answer = await client.send(listDeliveries, { params: { sessionId }, query, signal });
    return answer.body;
  });
};

/** Returns the number of the last delivery that the session's host has made; 0 if the host does not answer. */
const lastMade = async (options: ListenOptions): Promise<number> => {
  const { client, sessionId, signal } = options;
  try {
    const query = { limit: 1 };
    const { body } = await client.send(listWebhooks, { params: { sessionId }, query, signal });
    return body.meta.lastDelivery;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError && error.code !== 'not_found') return 0;
    throw error;
  }
};

/** Sends answers to be stored. Returns the stored answer to each delivery; none if the session no longer exists. */
const sendAnswers = async (
  options: ListenOptions,
  answers: AnswersBody['answers'],
): Promise<AnswersView['data']> => {
  const { client, sessionId, signal } = options;
  const input = { params: { sessionId }, body: { answers }, signal };
  try {
    const answer = await patiently(options, () => client.send(answerDeliveries, input));
    return answer.body.data;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return [];
    throw error;
  }
};

const forwardOne = async (
  options: ListenOptions,
  writer: AnswerWriter,
  delivery: DeliveryView,
): Promise<void> => {
  const { receiverMs: limitMs, signal, target } = options;
  const how = limitMs === undefined ? { signal } : { signal, limitMs };
  const forwarded = await forward(target, delivery, how);
  const { status, reason, durationMs } = forwarded;
  const written = await writer.write({
    ...{ sequence: delivery.sequence, status, durationMs: Math.min(durationMs, 3_600_000) },
    ...(reason === null ? {} : { reason }),
    sentTo: target.href.slice(0, 2_048),
  });
  const kept =
    written === undefined ? null : { status: written.answer.status, isOwn: written.kept };
  options.onForwarded({ delivery, forwarded, kept });
};

/** Returns the queue key of a delivery: its subscription, or its URL if the subscription is unknown. */
const queueKeyOf = ({ world, subscription, url }: DeliveryView): string =>
  JSON.stringify([world, subscription ?? url]);

/** Returns the delivery after which to start, and the last delivery that `once` waits for. */
const begin = async (options: ListenOptions): Promise<{ after: number; upTo: number }> => {
  if (options.replay) return { after: 0, upTo: options.once ? await lastMade(options) : 0 };
  const { meta } = await read(options, beyondAll, 0);
  return { after: meta.last, upTo: 0 };
};

const run = async (options: ListenOptions, queue: KeyedQueue<DeliveryView>): Promise<ListenEnd> => {
  const { intervalMs, once, signal } = options;
  const { after: first, upTo } = await begin(options);
  const settledAt = performance.now() + settleMs;
  // Existing deliveries are read at once, even if polls are far apart.
  for (let after = first, wait = 0; ; ) {
    await queue.capacity();
    const { data, meta } = await read(options, after, wait);
    for (const delivery of data) queue.add(queueKeyOf(delivery), delivery);
    const isEmpty = meta.after === after;
    after = meta.after;
    if (!isEmpty) continue;
    const { isOver, state } = meta;
    if (once && (isOver || after >= upTo || performance.now() > settledAt)) {
      await queue.drained();
      return { kind: 'done', state, isOver };
    }
    if (isOver) {
      await queue.drained();
      return { kind: 'over', state };
    }
    if (intervalMs === undefined) wait = once ? 1 : Math.min(holdSeconds, limits.waitMs / 1_000);
    else await pause(intervalMs, signal);
    signal.throwIfAborted();
  }
};

/**
 * Forwards until the session has ended, all deliveries are forwarded, or the command is interrupted. Throws permanent
 * refusals of the service.
 */
export const listen = async (options: ListenOptions): Promise<ListenEnd> => {
  const { signal } = options;
  const writer = createAnswerWriter((answers) => sendAnswers(options, answers));
  const work = (delivery: DeliveryView): Promise<void> => forwardOne(options, writer, delivery);
  const queue = new KeyedQueue({ atOnce: forwardedAtOnce, most: mostHeld, work });
  try {
    return await run(options, queue);
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted' };
    throw error;
  }
};

/**
 * Sends one delivery of a webhook to a receiver of the user's own: the exact text and headers that were signed, over a
 * connection of its own, so that a receiver may go away and come back between two of them.
 */

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { describeError } from '#domain/error.ts';
import { own } from '#domain/json.ts';
import type { DeliveryView } from '#wire/public-api/sessions/delivery.ts';
import type { Forwarded } from '../views/webhooks.ts';

/** How long a receiver has, in milliseconds. */
export const receiverMs = 60_000;
/** What is read of the body of an answer; nothing is done with it. */
const mostAnswerBytes = 1024 * 1024;
const mostReasonChars = 500;

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there: the connection was refused',
  ECONNRESET: 'the connection was closed before there was an answer',
  EPIPE: 'the connection was closed before there was an answer',
  ENOTFOUND: 'the name of the receiver is not known',
  EAI_AGAIN: 'the name of the receiver could not be looked up',
};

const reasonOf = (error: unknown, isLate: boolean, limitMs: number): string => {
  if (isLate) return `no answer within ${limitMs / 1_000} s`;
  const { code } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : own(reasons, code);
  return (known ?? describeError(error)).slice(0, mostReasonChars);
};

type Sent = Pick<DeliveryView, 'headers' | 'body'>;
type ForwardOptions = { signal: AbortSignal; limitMs?: number };

/** Resolves with the status once the body of the answer was read, or enough of it. */
const post = (target: URL, { headers, body }: Sent, signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const bytes = Buffer.from(body);
    const request = send(target, {
      method: 'POST',
      headers: { 'user-agent': 'svc-listen', ...headers, 'content-length': bytes.length },
      agent: false,
      signal,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let read = 0;
      response.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > mostAnswerBytes) response.destroy();
      });
      // The status is the answer, whatever becomes of what follows it.
      response.on('error', () => undefined);
      response.on('close', () => resolve(response.statusCode ?? 0));
    });
    request.end(bytes);
  });

/** Sends it, once. Never throws but for the signal's reason, where that aborts: then nobody knows what came of it. */
export const forward = async (
  target: URL,
  delivery: Sent,
  { signal, limitMs = receiverMs }: ForwardOptions,
): Promise<Forwarded> => {
  const late = AbortSignal.timeout(limitMs);
  const beganMs = performance.now();
  const took = (): number => Math.round((performance.now() - beganMs) * 10) / 10;
  try {
    const status = await post(target, delivery, AbortSignal.any([signal, late]));
    return { status, reason: null, durationMs: took() };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { status: 0, reason: reasonOf(error, late.aborted, limitMs), durationMs: took() };
  }
};

/**
 * Posts one webhook delivery to a receiver of the user, with the exact text and headers that were signed. Each delivery
 * has its own connection, so that the receiver may restart between two deliveries.
 */

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { describeError } from '#domain/error.ts';
import { own } from '#domain/json.ts';
import type { DeliveryView } from '#wire/public-api/sessions/delivery.ts';
import type { Forwarded } from '../views/webhooks.ts';

/** Timeout for the receiver's answer, in milliseconds. */
export const receiverMs = 60_000;
/** Maximum number of bytes of an answer's body that are read; they are discarded. */
const mostAnswerBytes = 1024 * 1024;
const mostReasonChars = 500;

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there: the connection was refused',
  ECONNRESET: 'the connection was closed before an answer arrived',
  EPIPE: 'the connection was closed before an answer arrived',
  ENOTFOUND: 'the name of the receiver does not exist',
  EAI_AGAIN: 'the name of the receiver could not be resolved',
};

const reasonOf = (error: unknown, isLate: boolean, limitMs: number): string => {
  if (isLate) return `no answer within ${limitMs / 1_000} s`;
  const { code } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : own(reasons, code);
  return (known ?? describeError(error)).slice(0, mostReasonChars);
};

type Sent = Pick<DeliveryView, 'headers' | 'body'>;
type ForwardOptions = { signal: AbortSignal; limitMs?: number };

/** Posts the delivery. Resolves with the status once the body of the answer was read, up to the limit. */
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
      // The status is the result, even if the rest of the answer fails.
      response.on('error', () => undefined);
      response.on('close', () => resolve(response.statusCode ?? 0));
    });
    request.end(bytes);
  });

/**
 * Posts the delivery once. Throws only if the signal aborts, with the signal's reason; whether the receiver got the
 * delivery is then unknown.
 */
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

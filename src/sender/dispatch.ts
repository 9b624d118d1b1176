/**
 * Claims as many deliveries as may start, posts each, and reports the outcome. The control plane chooses the next
 * delivery, since it knows what all senders have in flight.
 */
import type { Network } from '#egress/connect.ts';
import { type Posted, post } from '#egress/post.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Client } from '#wire/client.ts';
import {
  claimPushes,
  type Push,
  type PushReport,
  pushBatchMost,
} from '#wire/sender-api/operations.ts';

export type DispatchOptions = {
  client: Client;
  /** Name of this sender in claims. */
  claim: string;
  network: Network;
  atOnce: number;
  done(report: PushReport): void;
  log: Log;
};

export type Dispatch = {
  loop: Loop<{ claimed: number }>;
  underWay(): number;
  /** Stops claiming, and resolves when no delivery is in flight. */
  stop(): Promise<void>;
};

/** Maximum time in seconds that the control plane waits for a delivery before it answers a claim. */
const holdSeconds = 20;
const answerMs = 30_000;
const mostReasonChars = 1_000;

/** Replaces control characters, because receivers influence some messages through their certificates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const plain = (text: string): string => text.replace(/[\u0000-\u001f\u007f]/g, ' ');

const reportOf = ({ sessionId, sequence }: Push, posted: Posted): PushReport => {
  const { status, durationMs } = posted;
  if ('problem' in posted) {
    const { code: failure, message } = posted.problem;
    const reason = plain(message).slice(0, mostReasonChars).toWellFormed();
    return { sessionId, sequence, status: 0, failure, reason, durationMs };
  }
  return { sessionId, sequence, status, failure: null, reason: posted.note, durationMs };
};

/** Starts claiming and posting. */
export const startDispatch = (options: DispatchOptions): Dispatch => {
  const { client, claim, network, atOnce, done, log } = options;
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  /** Number of the current claim request, and that of the last one that was answered. */
  let round = 0;
  let heard = 0;

  const send = async (push: Push): Promise<void> => {
    const { sessionId, sequence, url, headers, body } = push;
    try {
      done(reportOf(push, await post({ url, headers, body }, network)));
    } catch (err) {
      // After a fault of the sender itself it is unknown how much was sent, so nothing is sent again.
      log.error(
        { err, sessionId, sequence },
        'a delivery was abandoned because of a fault of the sender',
      );
      const reason = 'a fault of the sender ended the delivery before the answer was known';
      done({ sessionId, sequence, status: 0, failure: 'sender_ended', reason, durationMs: 0 });
    }
  };

  const begin = (push: Push): void => {
    const sent: Promise<void> = send(push).finally(() => underWay.delete(sent));
    underWay.add(sent);
  };

  const loop = startLoop({
    name: 'claims',
    everyMs: 0,
    log,
    async tick(signal) {
      if (underWay.size >= atOnce) await Promise.race(underWay);
      const room = Math.min(pushBatchMost, atOnce - underWay.size);
      if (stopped || room < 1) return { claimed: 0 };
      round += 1;
      const body = { claim, round, heard, most: room, hold: holdSeconds };
      const { body: answer } = await client.send(claimPushes, { body, answerMs, signal });
      heard = round;
      for (const push of answer.pushes) begin(push);
      return { claimed: answer.pushes.length };
    },
  });

  return {
    loop,
    underWay: () => underWay.size,
    async stop() {
      stopped = true;
      await loop.stop();
      await Promise.all(underWay);
    },
  };
};

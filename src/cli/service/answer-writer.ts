/**
 * Writes down what a receiver answered. Answers that come while others are being written go together, so that a
 * receiver that is quick costs one request for many deliveries; whoever writes one waits until it is written.
 */
import {
  type AnswersBody,
  type AnswersView,
  deliveriesMost,
} from '#wire/public-api/sessions/delivery.ts';

type DeliveryAnswer = AnswersBody['answers'][number];

/** What is kept of a delivery's answer by now, this one or another's. */
export type KeptAnswer = AnswersView['data'][number];

export type AnswerWriter = {
  /** Resolves with what is kept; undefined where the delivery is not kept any more. Throws what writing threw. */
  write(answer: DeliveryAnswer): Promise<KeptAnswer | undefined>;
};

/** A writer that sends so many answers together, as soon as those before are written. */
export const createAnswerWriter = (
  send: (answers: DeliveryAnswer[]) => Promise<readonly KeptAnswer[]>,
): AnswerWriter => {
  const waiting: {
    answer: DeliveryAnswer;
    done: PromiseWithResolvers<KeptAnswer | undefined>;
  }[] = [];
  let isWriting = false;

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, deliveriesMost);
      try {
        const kept = await send(batch.map(({ answer }) => answer));
        for (const { answer, done } of batch) {
          done.resolve(kept.find(({ sequence }) => sequence === answer.sequence));
        }
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWriting = false;
  };

  return {
    write(answer) {
      const done = Promise.withResolvers<KeptAnswer | undefined>();
      waiting.push({ answer, done });
      if (!isWriting) void writeAll();
      return done.promise;
    },
  };
};

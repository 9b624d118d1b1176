/**
 * Stores the answers of a receiver in the service. Answers that arrive while a request is in progress are sent together
 * in the next request. So a fast receiver costs one request for many deliveries. Each `write` resolves when its answer
 * is stored.
 */
import {
  type AnswersBody,
  type AnswersView,
  deliveriesMost,
} from '#wire/public-api/sessions/delivery.ts';

type DeliveryAnswer = AnswersBody['answers'][number];

/** Stored answer to a delivery. It may differ from the answer that was just sent, if another was stored before. */
export type KeptAnswer = AnswersView['data'][number];

export type AnswerWriter = {
  /**
   * Resolves with the stored answer; undefined if the service no longer has the delivery. Rejects with the error of
   * the request.
   */
  write(answer: DeliveryAnswer): Promise<KeptAnswer | undefined>;
};

/** Creates a writer that sends all waiting answers together as soon as the previous request is done. */
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

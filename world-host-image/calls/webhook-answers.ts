/**
 * Call `webhook-answers`: records receivers' answers to deliveries in the ledger, once per delivery, as entries
 * `<event>.answer`. The control plane makes the call and may repeat it. A delivery that was made before the last reset
 * is no longer in the ledger. The answer to such a delivery goes only to readers that store entries longer than the
 * session does, not to graders.
 */
import { isObject } from '#domain/json.ts';
import { answerSuffix } from '#domain/ledger.ts';
import type { Row } from '#language/contract.ts';
import type { LedgerNote } from '../ledger/ledger.ts';
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

/**
 * Receiver's answer, as the control plane sends it after checking it: `DeliveryAnswerView`, and the number of the
 * delivery.
 */
type DeliveryAnswer = {
  delivery: number;
  event: string;
  status: number;
  reason: string | null;
  sentTo: string | null;
  sender: string;
  durationMs: number;
  at: string;
};

const isDeliveryAnswer = (answer: unknown): answer is DeliveryAnswer =>
  isObject(answer) && Number.isInteger(answer.delivery) && typeof answer.event === 'string';

const readAnswers = ({ answers }: Row): DeliveryAnswer[] => {
  if (Array.isArray(answers) && answers.every(isDeliveryAnswer)) return answers;
  const message = 'answers must be a list of answers to deliveries';
  throw new CallFailure({ code: 'invalid_input', message, path: '/answers' });
};

const noteOf = (answer: DeliveryAnswer, callId: string): LedgerNote => ({
  at: answer.at,
  via: 'webhook',
  operation: `${answer.event}${answerSuffix}`,
  method: 'POST',
  path: null,
  status: answer.status,
  request: { delivery: answer.delivery, sentTo: answer.sentTo, sender: answer.sender },
  response: { reason: answer.reason },
  duration_ms: answer.durationMs,
  changes: {},
  call_id: callId,
});

export const callWebhookAnswers: RunCall = async (session, call, input) => {
  refuseUnknown(input, ['answers']);
  const { ledger, sent } = session;
  const fresh = readAnswers(input).filter(({ delivery }) => sent.takeAnswer(delivery));
  for (const answer of fresh) {
    const note = noteOf(answer, call.id);
    if (ledger.isRecent(answer.delivery)) ledger.note(note);
    else ledger.noteAside(note);
  }
  return { output: { noted: fresh.length }, changes: {} };
};

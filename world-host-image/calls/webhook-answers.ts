/**
 * Call `webhook-answers`: what receivers answered to deliveries goes into the ledger, once a delivery, as an entry
 * `<event>.answer`. The control plane makes it, and may say the same again. An answer to a delivery from before the last
 * reset is told to those who keep entries longer, and not to graders: the delivery is not in the ledger any more.
 */
import { isObject } from '#domain/json.ts';
import { answerSuffix } from '#domain/ledger.ts';
import type { Row } from '#language/contract.ts';
import type { LedgerNote } from '../ledger/ledger.ts';
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

/** An answer as the control plane says it, which has checked it: `DeliveryAnswerView`, and of which delivery it is. */
type Told = {
  delivery: number;
  event: string;
  status: number;
  reason: string | null;
  sentTo: string | null;
  sender: string;
  durationMs: number;
  at: string;
};

const isTold = (answer: unknown): answer is Told =>
  isObject(answer) && Number.isInteger(answer.delivery) && typeof answer.event === 'string';

const readAnswers = ({ answers }: Row): Told[] => {
  if (Array.isArray(answers) && answers.every(isTold)) return answers;
  const message = 'answers must be a list of answers to deliveries';
  throw new CallFailure({ code: 'invalid_input', message, path: '/answers' });
};

const noteOf = (answer: Told, callId: string): LedgerNote => ({
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

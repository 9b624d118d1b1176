/**
 * Records a request to the API in the session's ledger: with its result, without its credential, and with long bodies
 * cut off.
 */
import type { LedgerNote } from '../ledger/ledger.ts';
import { maskText, secretNamesOf } from '../ledger/mask.ts';
import type { MetFault } from '../session/faults.ts';
import { noteOutgoing } from '../session/note-outgoing.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, bodyValue } from './answers/answer.ts';
import type { ApiOutcome, ApiRequest } from './requests/api-request.ts';
import { shownRequest } from './requests/credential.ts';

/**
 * Length in characters up to which the ledger records an answer whole. Of a longer answer, it records a start of this
 * length.
 */
const longestNoted = 16 * 1024;
const notedStart = 1024;
/** Length of JSON, in characters, that certainly fits the ledger whole, however the ledger measures it. */
const surelyWhole = 6 * 1024;

/** Returns the body for the ledger. A long body is cut off without being parsed. */
const bodyForLedger = (session: Session, answer: ApiAnswer): unknown => {
  const { body } = answer;
  if (body === null || body.length <= longestNoted) return bodyValue(answer);
  const start = maskText(body.slice(0, notedStart), secretNamesOf(session.world.contract));
  return { truncated: true, bytes: Buffer.byteLength(body), start };
};

/**
 * Returns the response, for the ledger, to a request that faults applied to. The list of faults is always whole; a long
 * body is cut off.
 */
const responseWithFaults = (session: Session, answer: ApiAnswer, faults: MetFault[]) => {
  const { body, reason } = answer;
  const whole = { faults, body: bodyForLedger(session, answer), reason };
  if (JSON.stringify(whole).length <= longestNoted) return whole;
  const start = maskText((body ?? '').slice(0, notedStart), secretNamesOf(session.world.contract));
  return { faults, body: { truncated: true, start }, reason: reason?.slice(0, notedStart) ?? null };
};

/** Returns the response for the ledger. A body that is known to be JSON is inserted as text, unparsed. */
const responseForLedger = (
  session: Session,
  { answer, met }: Pick<ApiOutcome, 'answer' | 'met'>,
): Pick<LedgerNote, 'response' | 'responseText'> => {
  const { body, isRows, isWritten, reason } = answer;
  if (met !== undefined && met.faults.length > 0) {
    return { response: responseWithFaults(session, answer, met.faults) };
  }
  const isShort = body !== null && body.length <= (isRows === true ? longestNoted : surelyWhole);
  return isShort && (isRows === true || isWritten === true) && reason === null
    ? { response: undefined, responseText: `{"body":${body},"reason":null}` }
    : { response: { body: bodyForLedger(session, answer), reason } };
};

/**
 * Returns the request's body for the ledger. A body that is not JSON may be a form with secrets in it, so secrets are
 * masked.
 */
const requestForLedger = ({ world }: Session, body: unknown): unknown =>
  typeof body === 'string'
    ? maskText(body.slice(0, 2 * longestNoted), secretNamesOf(world.contract))
    : (body ?? null);

/** Records a request, its result, and the webhooks that it sent. */
export const noteRequest = (
  session: Session,
  request: ApiRequest,
  outcome: ApiOutcome,
  { via, at, startedAt }: { via: 'api' | 'ui'; at: Date; startedAt: number },
): void => {
  const { answer, body, changes, operation, rows } = outcome;
  const { path, query, headers } = shownRequest(session.world.contract.api, request);
  session.ledger.note({
    at: at.toISOString(),
    via,
    operation,
    method: request.method,
    path,
    // A dropped connection means that the client got no status.
    status: outcome.met?.drop === undefined ? answer.status : null,
    request: { query, headers, body: requestForLedger(session, body) },
    ...responseForLedger(session, outcome),
    duration_ms: performance.now() - startedAt,
    changes,
    rows,
    call_id: null,
  });
  noteOutgoing(session, outcome.outgoing, null);
};

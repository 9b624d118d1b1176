/** A request to the API in the ledger of its session: with what it came to, without its credential, and cut. */
import type { LedgerNote } from '../ledger/ledger.ts';
import { maskText, secretNamesOf } from '../ledger/mask.ts';
import type { MetFault } from '../session/faults.ts';
import { noteOutgoing } from '../session/note-outgoing.ts';
import type { Session } from '../session/session.ts';
import { type ApiAnswer, bodyValue } from './answers/answer.ts';
import type { ApiOutcome, ApiRequest } from './requests/api-request.ts';
import { shownRequest } from './requests/credential.ts';

/** Characters of an answer that the ledger is given whole, and those it is given of a longer one. */
const longestNoted = 16 * 1024;
const notedStart = 1024;
/** Characters of JSON that the ledger shows whole, however it counts what is in it. */
const surelyWhole = 6 * 1024;

/** A long body is noted as its beginning, without being parsed. */
const bodyForLedger = (session: Session, answer: ApiAnswer): unknown => {
  const { body } = answer;
  if (body === null || body.length <= longestNoted) return bodyValue(answer);
  const start = maskText(body.slice(0, notedStart), secretNamesOf(session.world.contract));
  return { truncated: true, bytes: Buffer.byteLength(body), start };
};

/** Of a response that met faults they stay, however long its body is. */
const responseWithFaults = (session: Session, answer: ApiAnswer, faults: MetFault[]) => {
  const { body, reason } = answer;
  const whole = { faults, body: bodyForLedger(session, answer), reason };
  if (JSON.stringify(whole).length <= longestNoted) return whole;
  const start = maskText((body ?? '').slice(0, notedStart), secretNamesOf(session.world.contract));
  return { faults, body: { truncated: true, start }, reason: reason?.slice(0, notedStart) ?? null };
};

/** The response as the ledger has it: what is known to be JSON goes there unparsed. */
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

/** A body that is no JSON is text of which nothing is known; it may be a form with secrets in it. */
const requestForLedger = ({ world }: Session, body: unknown): unknown =>
  typeof body === 'string'
    ? maskText(body.slice(0, 2 * longestNoted), secretNamesOf(world.contract))
    : (body ?? null);

/** Notes a request and what it came to, with the webhooks that it sent. */
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
    // A client that got no answer got no status.
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

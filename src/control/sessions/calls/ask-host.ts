/** Asks the host of a session for data that only the host has, with a call that the control plane itself makes. */
import { AppError } from '#domain/error.ts';
import type { CallRow } from '../../db/sessions/calls.ts';
import type { SessionParts } from '../parts.ts';
import { enqueueOwn, type OwnCall } from './enqueue.ts';
import { isOver } from './wait.ts';

export type HostQuestion = OwnCall & {
  /** End of the message "… is no longer open, and …": it says which data was lost with the host. */
  lost: string;
  /** Maximum length of the answer in characters. It is limited because the host runs user code. */
  mostChars: number;
};

/** Output or error with which the host answered. */
export type HostAnswer =
  | { ok: true; value: unknown }
  | { ok: false; error: { code?: string; message?: string } };

/** Maximum wait for the answer, in milliseconds. The host may have to run queued calls first. */
const answerMs = 25_000;

const ended = ({ sessionId, lost }: HostQuestion, why: string, cause?: AppError): AppError =>
  new AppError('conflict', `${sessionId} ${why}, and ${lost}`, {
    cause,
    ...(cause === undefined ? {} : { detail: cause.detail }),
  });

const endReasonOf = ({ errorJson }: CallRow): string => {
  const { message } = JSON.parse(errorJson ?? '{}') as { message?: string };
  return message === undefined ? '' : `: ${message}`;
};

const ask = async (
  parts: SessionParts,
  question: HostQuestion,
  signal: AbortSignal,
): Promise<CallRow> => {
  const { projectId, sessionId, kind, inputJson } = question;
  await parts.callRate.spend(projectId);
  try {
    const call = { projectId, sessionId, kind, inputJson };
    return await enqueueOwn(parts, call, { ms: answerMs, signal });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    throw ended(question, 'is no longer open', error);
  }
};

/** Builds the error for an answer that cannot be used. */
export const unreadable = (sessionId: string, why: string): AppError =>
  new AppError('unavailable', `the host of ${sessionId} did not answer: ${why}`);

const readable = ({ sessionId, mostChars }: HostQuestion, { outputJson }: CallRow): string => {
  if (outputJson === null) throw unreadable(sessionId, 'the answer is empty');
  if (outputJson.length <= mostChars) return outputJson;
  throw unreadable(sessionId, 'the answer is too long; request less at once');
};

/**
 * Asks the host and waits for its answer.
 * @throws `conflict` if the session has ended or ends in the meantime, `timeout` if the host does not answer in time,
 * and `unavailable` if the answer cannot be used.
 */
export const askHost = async (
  parts: SessionParts,
  question: HostQuestion,
  signal: AbortSignal,
): Promise<HostAnswer> => {
  const { sessionId } = question;
  const call = await ask(parts, question, signal);
  if (!isOver(call)) {
    const message = `the host of ${sessionId} has not answered within ${answerMs / 1_000} s: the host still runs earlier calls; repeat the request later`;
    throw new AppError('timeout', message, { detail: { retryAfterMs: 1_000 } });
  }
  if (call.state === 'lost' || call.state === 'cancelled') {
    throw ended(question, `ended meanwhile (${call.state}${endReasonOf(call)})`);
  }
  if (call.state === 'failed') {
    return { ok: false, error: JSON.parse(call.errorJson ?? '{}') as { message?: string } };
  }
  return { ok: true, value: JSON.parse(readable(question, call)) };
};

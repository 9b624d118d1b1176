/** Asks the host of a session for what it alone knows, by a call that the control plane makes itself. */
import { AppError } from '#domain/error.ts';
import type { CallRow } from '../../db/sessions/calls.ts';
import type { SessionParts } from '../parts.ts';
import { enqueueOwn, type OwnCall } from './enqueue.ts';
import { isOver } from './wait.ts';

export type HostQuestion = OwnCall & {
  /** What the host has and nobody else, in words that follow "… is open no longer, and". */
  lost: string;
  /** A host of one that runs strangers' code is not read further than this. */
  mostChars: number;
};

/** What it said, or why it did not. */
export type HostWord =
  | { ok: true; value: unknown }
  | { ok: false; error: { code?: string; message?: string } };

/** How long the host has, which may have other calls to run first, in milliseconds. */
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
    throw ended(question, 'is open no longer', error);
  }
};

/** How an answer is refused that nothing can be made of. */
export const unreadable = (sessionId: string, why: string): AppError =>
  new AppError('unavailable', `the host of ${sessionId} did not answer: ${why}`);

const readable = ({ sessionId, mostChars }: HostQuestion, { outputJson }: CallRow): string => {
  if (outputJson === null) throw unreadable(sessionId, 'it said nothing');
  if (outputJson.length <= mostChars) return outputJson;
  throw unreadable(sessionId, 'it said too much; ask for less at once');
};

/**
 * Throws `conflict` for a session that is over or ends meanwhile, `timeout` where its host has not answered in time, and
 * `unavailable` where it cannot be asked.
 */
export const askHost = async (
  parts: SessionParts,
  question: HostQuestion,
  signal: AbortSignal,
): Promise<HostWord> => {
  const { sessionId } = question;
  const call = await ask(parts, question, signal);
  if (!isOver(call)) {
    const message = `the host of ${sessionId} has not answered within ${answerMs / 1_000} s: it is busy with the calls before; ask again`;
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

/** State of a session and the reason why it ended, for the error when a request came too late. */
import { AppError } from '#domain/error.ts';
import type { EndReason, SessionState } from '#domain/session.ts';

/** Reason why a session could not be served, worded for the owner of the session. */
export type SessionError = { code: string; message: string };

/** Session that refuses a request because of its state, and the reason why it ended. */
export type RefusingSession = {
  id: string;
  state: SessionState;
  endReason: EndReason | null;
  error: SessionError | null;
};

/** Describes why a session ended, as text to append to its state; an empty text if it has not ended. */
const describeEnd = ({ endReason, error }: RefusingSession): string => {
  if (endReason === null) return '';
  return error === null ? ` (${endReason})` : ` (${endReason}: ${error.message})`;
};

/**
 * Builds the error for a request that the session refuses because of its state. `and` is the text that follows "… is
 * CLOSED".
 */
export const notInState = (session: RefusingSession, and: string): AppError => {
  const { id, state, endReason, error: sessionError } = session;
  const message = `${id} is ${state}${describeEnd(session)}${and}`;
  const detail = endReason === null ? { state } : { state, endReason, sessionError };
  return new AppError('conflict', message, { detail });
};

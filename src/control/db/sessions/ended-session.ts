/** State of a session and the reason of its end: details of the refusal of a request that came too late. */
import { AppError } from '#domain/error.ts';
import type { EndReason, SessionState } from '#domain/session.ts';

/** Reason why a session could not be served, in words for its owner. */
export type SessionError = { code: string; message: string };

/** Session that refuses a request because of its state, with the reason of its end. */
export type RefusingSession = {
  id: string;
  state: SessionState;
  endReason: EndReason | null;
  error: SessionError | null;
};

/** Describes why a session ended, to be appended to its state; empty if it has not ended. */
const describeEnd = ({ endReason, error }: RefusingSession): string => {
  if (endReason === null) return '';
  return error === null ? ` (${endReason})` : ` (${endReason}: ${error.message})`;
};

/** Builds the error for a request that the session refuses in its state; `and` follows "… is CLOSED". */
export const notInState = (session: RefusingSession, and: string): AppError => {
  const { id, state, endReason, error: sessionError } = session;
  const message = `${id} is ${state}${describeEnd(session)}${and}`;
  const detail = endReason === null ? { state } : { state, endReason, sessionError };
  return new AppError('conflict', message, { detail });
};

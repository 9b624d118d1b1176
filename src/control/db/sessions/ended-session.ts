/** State of a session and the reason of its end: details of the refusal of a request that came too late. */
import { AppError } from '#domain/error.ts';
import type { EndReason, SessionState } from '#domain/session.ts';

/** Why a session could not be served, in words for its owner. */
export type SessionError = { code: string; message: string };

/** A session that is refused for its state, with why it ended once it has. */
export type StoodSession = {
  id: string;
  state: SessionState;
  endReason: EndReason | null;
  error: SessionError | null;
};

/** Says why a session ended, in words that follow its state; empty while it has not. */
const describeEnd = ({ endReason, error }: StoodSession): string => {
  if (endReason === null) return '';
  return error === null ? ` (${endReason})` : ` (${endReason}: ${error.message})`;
};

/** Refuses what a session in this state does not do; `and` follows "… is CLOSED". */
export const notInState = (session: StoodSession, and: string): AppError => {
  const { id, state, endReason, error: sessionError } = session;
  const message = `${id} is ${state}${describeEnd(session)}${and}`;
  const detail = endReason === null ? { state } : { state, endReason, sessionError };
  return new AppError('conflict', message, { detail });
};

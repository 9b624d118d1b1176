/** Waiting for a session: until it can be used, or is over. */
import { isReady, type SessionState, sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { findSession, noSession, type SessionRow } from '../db/sessions.ts';
import { holdUntil, toMs } from '../news/hold.ts';
import type { Parts } from '../parts.ts';

export const isOver = (state: SessionState): boolean => isFinal(sessionTransitions, state);
/** An open has its outcome: the session can be used, or never will. */
export const isSettled = (state: SessionState): boolean => isReady(state) || isOver(state);

export type SessionWait = {
  projectId: string;
  sessionId: string;
  seconds: number | undefined;
  signal: AbortSignal;
  until(state: SessionState): boolean;
};

/** The session once its state is one to wait for, or as it is when the time is over. */
export const awaitSession = async (
  { db, notices }: Parts,
  { projectId, sessionId, seconds, signal, until }: SessionWait,
): Promise<SessionRow> => {
  const read = async (): Promise<SessionRow> => {
    const session = await findSession(db, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    return session;
  };
  const look = async (): Promise<SessionRow | undefined> => {
    const session = await read();
    return until(session.state) || !seconds ? session : undefined;
  };
  const found = await holdUntil(notices, { topic: sessionId, ms: toMs(seconds), signal, look });
  return found ?? read();
};

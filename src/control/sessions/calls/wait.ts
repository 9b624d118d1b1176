/** Waits for the end of a call. The wait is woken by notifications, and the call is also read again at intervals. */
import { callTransitions } from '#domain/call.ts';
import { isFinal } from '#domain/transitions.ts';
import { type CallRef, type CallRow, findCall } from '../../db/sessions/calls.ts';
import { holdWatching } from '../../platform/notifications/held-requests.ts';
import type { NotifiedValues } from '../../platform/notifications/notifications.ts';
import type { Watch } from '../../platform/notifications/topics.ts';
import type { SessionParts } from '../parts.ts';

/** Returns true if the call is in a final state. */
export const isOver = (call: CallRow): boolean => isFinal(callTransitions, call.state);

export type CallWait = { ms: number; signal: AbortSignal };

/**
 * Returns the call once it has ended; when the time is up, returns it as it is then. The caller must create `watch`
 * before it reads `call`, so that no notification of the end is missed.
 */
export const awaitCall = async (
  { db, notifications }: SessionParts,
  watch: Watch<NotifiedValues>,
  ref: CallRef,
  call: CallRow,
  { ms, signal }: CallWait,
): Promise<CallRow> => {
  let known: CallRow | undefined;
  const look = async (news: NotifiedValues | undefined): Promise<CallRow | undefined> => {
    known = known === undefined ? call : (news?.call ?? (await findCall(db, ref)) ?? known);
    return isOver(known) ? known : undefined;
  };
  return (await holdWatching(notifications, watch, { ms, signal, look })) ?? known ?? call;
};

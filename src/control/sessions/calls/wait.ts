/** Waiting for a call's end: told by the answer itself, or found by looking. */
import { callTransitions } from '#domain/call.ts';
import { isFinal } from '#domain/transitions.ts';
import { type CallRef, type CallRow, findCall } from '../../db/sessions/calls.ts';
import { holdWatching } from '../../platform/notifications/held-requests.ts';
import type { Brought } from '../../platform/notifications/notifications.ts';
import type { Watch } from '../../platform/notifications/topics.ts';
import type { SessionParts } from '../parts.ts';

/** Whether nothing more will happen to the call. */
export const isOver = (call: CallRow): boolean => isFinal(callTransitions, call.state);

export type CallWait = { ms: number; signal: AbortSignal };

/**
 * The call once it is over, or as it stands when the time is. `watch` must be older than `call`, so
 * that no answer falls between the two.
 */
export const awaitCall = async (
  { db, notifications }: SessionParts,
  watch: Watch<Brought>,
  ref: CallRef,
  call: CallRow,
  { ms, signal }: CallWait,
): Promise<CallRow> => {
  let known: CallRow | undefined;
  const look = async (news: Brought | undefined): Promise<CallRow | undefined> => {
    known = known === undefined ? call : (news?.call ?? (await findCall(db, ref)) ?? known);
    return isOver(known) ? known : undefined;
  };
  return (await holdWatching(notifications, watch, { ms, signal, look })) ?? known ?? call;
};

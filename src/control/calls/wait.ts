/** Waiting for a call's end: told by the answer itself, or found by looking. */
import { callTransitions } from '#domain/call.ts';
import { isFinal } from '#domain/transitions.ts';
import { type CallPlace, type CallRow, findCall } from '../db/calls.ts';
import type { Watch } from '../news/bell.ts';
import type { Parts } from '../parts.ts';

const lookAgainMs = 5_000;

/** Whether nothing more will happen to the call. */
export const isOver = (call: CallRow): boolean => isFinal(callTransitions, call.state);

export type CallWait = { ms: number; signal: AbortSignal };

/**
 * The call once it is over, or as it stands when the time is. `watch` must be older than `call`, so
 * that no answer falls between the two.
 */
export const awaitCall = async (
  { db, notices }: Pick<Parts, 'db' | 'notices'>,
  watch: Watch<CallRow>,
  place: CallPlace,
  call: CallRow,
  { ms, signal }: CallWait,
): Promise<CallRow> => {
  const endsAt = performance.now() + ms;
  let known = call;
  for (;;) {
    const leftMs = endsAt - performance.now();
    if (isOver(known) || leftMs <= 0 || signal.aborted || notices.closed) return known;
    const news = await watch.next(Math.min(leftMs, lookAgainMs), signal);
    known = news.value ?? (await findCall(db, place)) ?? known;
  }
};

/**
 * Serves the calls of one session: waits for them, runs each at most once, posts its answer. Posting
 * brings the next call back, so a busy session costs one round trip a call.
 *
 * `stopping` ends waits, never a call that runs: its answer is still delivered.
 */
import { limits } from '#domain/limits.ts';
import type { Log } from '#runtime/log.ts';
import {
  answerCall,
  type CallAnswer,
  type HostCall,
  pollCalls,
  type SessionDirective,
} from '#wire/host-api/operations.ts';
import { runCall } from './calls/run-call.ts';
import type { ControlLink } from './control-link.ts';
import { createJournal, type Journal } from './journal.ts';
import type { Session } from './session/session.ts';
import type { Standing } from './standing.ts';

export type ServeOptions = {
  standing: Standing;
  link: ControlLink;
  log: Log;
  stopping: AbortSignal;
};

const hold = limits.pollMs / 1000;
/** For the one last message of a host that was told to stop. */
const lastMessageMs = 5_000;

const deliver = async (
  { link, standing, stopping }: ServeOptions,
  session: Session,
  call: HostCall,
  answer: CallAnswer,
): Promise<SessionDirective> => {
  const params = { sessionId: session.id, callId: call.id };
  const body = { generation: standing.generation, answer };
  try {
    const input = { params, body: { ...body, hold } };
    return await link.send(answerCall, input, { signal: stopping, holdSeconds: hold });
  } catch (error) {
    if (!stopping.aborted) throw error;
    // The wait for the next call was cut short, perhaps before the answer arrived.
    const signal = AbortSignal.timeout(lastMessageMs);
    await link.send(answerCall, { params, body: { ...body, hold: 0 } }, { signal });
    return {};
  }
};

/** The answer of a call: from the journal when it was here before, else by running it. */
const answerOf = async (
  session: Session,
  journal: Journal,
  call: HostCall,
  log: Log,
): Promise<CallAnswer> => {
  const seen = journal.look(call);
  switch (seen.kind) {
    case 'answered':
      return seen.answer;
    case 'forgotten': {
      const message = 'the call was answered before and its answer is no longer kept';
      return { error: { code: 'forgotten', message }, changes: {} };
    }
    case 'new': {
      log.debug({ call: call.id, kind: call.kind, name: call.name }, 'call begins');
      const answer = await runCall(session, call, log);
      journal.answered(call, answer);
      return answer;
    }
  }
};

/**
 * Resolves with how the session is to be closed, or undefined when the host itself is to stop.
 * Throws what the control plane refuses.
 */
export const serveCalls = async (
  options: ServeOptions,
  session: Session,
  first: SessionDirective,
): Promise<SessionDirective['close']> => {
  const { link, log, standing, stopping } = options;
  const journal = createJournal();
  const params = { sessionId: session.id };
  let directive = first;
  while (!stopping.aborted) {
    const { call, close } = directive;
    if (close !== undefined) return close;
    if (call !== undefined) {
      directive = await deliver(
        options,
        session,
        call,
        await answerOf(session, journal, call, log),
      );
    } else {
      const query = { generation: standing.generation, hold };
      const wait = { signal: stopping, holdSeconds: hold };
      directive = await link.send(pollCalls, { params, query }, wait);
    }
  }
  return undefined;
};

/**
 * Serves the calls of one session: waits for them, runs each at most once, posts its answer. Posting
 * brings the next call back, so a busy session costs one round trip a call.
 *
 * `stopping` ends waits, never a call: one that the host was handed is run and its answer delivered, and
 * no further one is asked for.
 */
import { describeError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { type ControlLink, type HostIdentity, isRefused } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import {
  answerCall,
  type CallAnswer,
  type HostCall,
  pollCalls,
  reportReady,
  type SessionDirective,
} from '#wire/host-api/operations.ts';
import type { ClientInput, Input } from '#wire/operation.ts';
import { runCall } from '../call-kinds/run-call.ts';
import type { Session } from '../session/session.ts';
import { createJournal, type Journal } from './journal.ts';

export type ServeOptions = {
  identity: HostIdentity;
  link: ControlLink;
  log: Log;
  stopping: AbortSignal;
};

const hold = limits.pollMs / 1000;
/** For a message that a host has left to send when it was told to stop. */
const lastMessageMs = 5_000;
/** How much the error that stands in for an answer says of why it was not taken. */
const mostWhyChars = 1_000;

/** The two messages that bring the next call. */
type Asking = typeof answerCall | typeof pollCalls;

/**
 * Says that a session is ready, and asks for what comes first. When the host is told to stop, it asks once
 * more as `ask` does.
 */
export const tellReady = async (
  options: ServeOptions,
  { id: sessionId, world }: Session,
  steps: NonNullable<Input<typeof reportReady>['body']['steps']>,
): Promise<SessionDirective> => {
  const { generation } = options.identity;
  const params = { sessionId };
  const holding = { bundle: world.bundle, stateDigest: world.baseDigest };
  const body = { generation, holding, hold, steps };
  try {
    const wait = { signal: options.stopping, holdSeconds: hold };
    return await options.link.send(reportReady, { params, body }, wait);
  } catch (error) {
    if (!options.stopping.aborted) throw error;
    const signal = AbortSignal.timeout(lastMessageMs);
    const query = { generation, hold: 0, final: true };
    return options.link.send(pollCalls, { params, query }, { signal });
  }
};

/**
 * Asks for what comes next, for as long as the control plane holds the answer. When the host is told to
 * stop, the message is sent once more as its last one: it may not have arrived, and the answer that was
 * cut short may have brought a call.
 */
const ask = async <Shape extends Asking>(
  { link, stopping }: ServeOptions,
  shape: Shape,
  inputOf: (last: { hold: number; final: boolean }) => ClientInput<Shape>,
): Promise<SessionDirective> => {
  try {
    const wait = { signal: stopping, holdSeconds: hold };
    return await link.send(shape, inputOf({ hold, final: false }), wait);
  } catch (error) {
    if (!stopping.aborted) throw error;
    const signal = AbortSignal.timeout(lastMessageMs);
    return link.send(shape, inputOf({ hold: 0, final: true }), { signal });
  }
};

/** Gives an answer; in place of one that is not taken an error says so, and the session goes on. */
const deliver = async (
  options: ServeOptions,
  session: Session,
  call: HostCall,
  answer: CallAnswer,
): Promise<SessionDirective> => {
  const params = { sessionId: session.id, callId: call.id };
  const { generation } = options.identity;
  const give = (given: CallAnswer): Promise<SessionDirective> =>
    ask(options, answerCall, (asked) => ({
      params,
      body: { generation, answer: given, ...asked },
    }));
  try {
    return await give(answer);
  } catch (error) {
    if (!isRefused(error)) throw error;
    options.log.error({ err: error, callId: call.id }, 'the answer of a call was not taken');
    const why = describeError(error).slice(0, mostWhyChars);
    const message = `the world host's answer was not taken: ${why}`;
    return give({ error: { code: 'internal', message }, changes: answer.changes });
  }
};

const poll = (options: ServeOptions, session: Session): Promise<SessionDirective> => {
  const params = { sessionId: session.id };
  const { generation } = options.identity;
  return ask(options, pollCalls, (asked) => ({ params, query: { generation, ...asked } }));
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
      log.debug({ callId: call.id, kind: call.kind, name: call.name }, 'call begins');
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
  const { log, stopping } = options;
  const journal = createJournal();
  let directive = first;
  for (;;) {
    const { call, close } = directive;
    if (close !== undefined) return close;
    if (call !== undefined) {
      const answer = await answerOf(session, journal, call, log);
      directive = await deliver(options, session, call, answer);
    } else if (stopping.aborted) return undefined;
    else directive = await poll(options, session);
  }
};

/**
 * Serves the calls of one session: waits for a call, runs it at most once, posts its answer. The response to an answer
 * contains the next call, so a busy session costs one round trip per call.
 *
 * `stopping` interrupts waiting but never a call. A call that the host has received is run and its answer posted; then
 * the host requests no more calls.
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
/** Timeout for the last message of a host that has to stop, in milliseconds. */
const lastMessageMs = 5_000;
/** Maximum number of characters of the reason in the error that replaces a rejected answer. */
const mostWhyChars = 1_000;

/** Messages whose response contains the next call. */
type Asking = typeof answerCall | typeof pollCalls;

/**
 * Reports a session ready and returns the first directive. If the host has to stop while it waits for the directive, it
 * polls once more, as in `ask`.
 */
export const sendReady = async (
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
 * Sends a message and waits for the next directive, for as long as the control plane holds the response back. If the
 * host has to stop meanwhile, it sends the message once more, marked as final: the first message may not have arrived,
 * or its interrupted response may have contained a call.
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

/** Posts the call's answer. If the control plane rejects it, posts an error in its place; the session continues. */
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
    options.log.error(
      { err: error, callId: call.id },
      'the control plane rejected the answer of a call',
    );
    const why = describeError(error).slice(0, mostWhyChars);
    const message = `the control plane rejected the world host's answer: ${why}`;
    return give({ error: { code: 'internal', message }, changes: answer.changes });
  }
};

const poll = (options: ServeOptions, session: Session): Promise<SessionDirective> => {
  const params = { sessionId: session.id };
  const { generation } = options.identity;
  return ask(options, pollCalls, (asked) => ({ params, query: { generation, ...asked } }));
};

/** Returns the answer of a call: from the journal if the call ran before, else by running it. */
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
      const message = 'the call was already answered, and its answer is no longer cached';
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
 * Serves calls until the session ends. Resolves with the directive for closing the session, or undefined when the host
 * has to stop. If the control plane rejects the host, throws the error with which it did so.
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

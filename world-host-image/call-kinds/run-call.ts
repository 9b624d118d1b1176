/**
 * Runs a call of any kind. Its result becomes an answer: an output, or an error that the caller can act on. Calls that
 * change something get an entry in the session's ledger.
 */
import type { CallError, CallKind } from '#domain/call.ts';
import { cut } from '#domain/cut.ts';
import { limits } from '#domain/limits.ts';
import type { Log } from '#runtime/log.ts';
import type { RowChange } from '#store/write/write-set.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import { callAnswer } from '../calls/answer.ts';
import { findAnswerFault } from '../calls/answers/answerable.ts';
import { CallFailure, callErrorOf } from '../calls/answers/failure.ts';
import { inputOf, type RunCall } from '../calls/call.ts';
import { callClose } from '../calls/close.ts';
import { callFaults, isSetting } from '../calls/faults.ts';
import { callReset } from '../calls/reset.ts';
import { callScreenshot } from '../calls/screenshot.ts';
import { callSeed } from '../calls/seed.ts';
import { callState } from '../calls/state.ts';
import { runTool } from '../calls/tools/run-tool.ts';
import { callWebhookAnswers } from '../calls/webhook-answers.ts';
import { callWebhooks } from '../calls/webhooks.ts';
import type { LedgerNote } from '../ledger/ledger.ts';
import type { MetFault } from '../session/faults.ts';
import { noteOutgoing } from '../session/note-outgoing.ts';
import { nothingOutgoing, type Outgoing } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import { callExport } from './export.ts';
import { callGrade } from './grade.ts';
import { callProve } from './prove.ts';
import { callTest } from './test.ts';

const kinds: Record<CallKind, RunCall> = {
  tool: (session, call, input) => runTool(session, call.name ?? '', input),
  grade: callGrade,
  seed: callSeed,
  reset: callReset,
  state: callState,
  answer: callAnswer,
  faults: callFaults,
  screenshot: callScreenshot,
  close: callClose,
  test: callTest,
  prove: callProve,
  webhooks: callWebhooks,
  'webhook-answers': callWebhookAnswers,
  export: callExport,
};

/**
 * Kinds of calls that get their ledger entry in this module. Reading and grading the state get no entry, and a reset
 * writes its own entry.
 */
const notedAs: Partial<Record<CallKind, LedgerNote['via']>> = {
  tool: 'tool',
  seed: 'session',
  answer: 'session',
  faults: 'session',
};

const viaOf = ({ kind, input }: HostCall): LedgerNote['via'] | undefined =>
  kind === 'faults' && !isSetting(input) ? undefined : notedAs[kind];

type Ran = {
  answer: CallAnswer;
  rows: RowChange[];
  outgoing: Outgoing;
  faults: readonly MetFault[];
};

const responseOf = ({ answer, faults }: Ran) => ({
  ...(faults.length === 0 ? {} : { faults }),
  ...(answer.error === undefined ? { output: answer.output } : { error: answer.error }),
});

/** Cuts the texts of an error to the lengths that the API allows; messages from user code may have any length. */
const bounded = ({ code, message, path, ...rest }: CallError): CallError => ({
  code: cut(code, limits.nameChars),
  message: cut(message, limits.messageChars),
  ...(path === undefined || path.length > limits.messageChars ? {} : { path }),
  ...rest,
});

/** If the API would not accept an error's details, replaces them by a notice that they were left out. */
const withoutFault = (error: CallError): CallError => {
  const fault = findAnswerFault({ error });
  if (fault === undefined) return error;
  const { details: _, ...rest } = error;
  return { ...rest, details: { leftOut: `the details: ${fault.message}` } };
};

const failedWith = (error: CallError, faults: readonly MetFault[] = []): Ran => ({
  answer: { error: withoutFault(bounded(error)), changes: {} },
  rows: [],
  outgoing: nothingOutgoing(),
  faults,
});

const run = async (session: Session, call: HostCall, log: Log): Promise<Ran> => {
  try {
    const outcome = await kinds[call.kind](session, call, inputOf(call), (of, other) =>
      runCall(of, other, log),
    );
    const { rows = [], outgoing = nothingOutgoing(), faults = [], ...answer } = outcome;
    const fault = call.kind === 'tool' ? undefined : findAnswerFault(answer); // tools check theirs
    if (fault === undefined) return { answer, rows, outgoing, faults };
    return failedWith({ code: fault.code, message: `the output is not sent: ${fault.message}` });
  } catch (cause) {
    const error = callErrorOf(cause);
    if (error !== undefined) {
      return failedWith(error, cause instanceof CallFailure ? cause.faults : []);
    }
    log.error({ err: cause, callId: call.id, kind: call.kind, name: call.name }, 'a call failed');
    const message = `the world host failed to run the call; its log names ${call.id}`;
    return failedWith({ code: 'internal', message });
  }
};

/** Runs a call and returns its answer. Never throws: any failure becomes an answer, too. */
export const runCall = async (session: Session, call: HostCall, log: Log): Promise<CallAnswer> => {
  const at = new Date();
  const startedAt = performance.now();
  const ran = await run(session, call, log);
  const { answer, rows, outgoing } = ran;
  const via = viaOf(call);
  if (via !== undefined) {
    session.ledger.note({
      at: at.toISOString(),
      via,
      operation: call.name ?? call.kind,
      method: null,
      path: null,
      status: null,
      request: call.input ?? null,
      response: responseOf(ran),
      duration_ms: performance.now() - startedAt,
      changes: answer.changes,
      rows,
      call_id: call.id,
    });
  }
  noteOutgoing(session, outgoing, call.id);
  return answer;
};

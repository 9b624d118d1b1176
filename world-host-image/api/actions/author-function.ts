/**
 * Runs functions of the world's handlers module as part of a request. Their return value is the body; `ctx.respond`
 * and `ctx.fail` set the whole answer. A function that fails changes nothing.
 */
import { http } from '#wire/http.ts';
import { watchAccess, watchRun } from '../../session/seen.ts';
import { createStoreAccess } from '../../session/store-access.ts';
import type { Refusal } from '../../usercode/boundary/protocol.ts';
import type { RunResult } from '../../usercode/run.ts';
import { type ApiAnswer, FailedAction, jsonAnswer } from '../answers/answer.ts';
import { causeOf, invalidAnswer, wrongAt } from '../answers/invalid-answer.ts';
import type { ActionContext } from './action.ts';

const timeoutMs = 30_000;

/** Answer of a function that returned without an error. */
export type FunctionAnswer = {
  /** Status set by `ctx.respond`; null if the function did not call it. */
  status: number | null;
  value: unknown;
  headers: Record<string, string>;
  /** True if the value is the text of a file. */
  isFile: boolean;
};

const contentTypeOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];

/**
 * Returns the value as well-formed JSON. `JSON.stringify` writes lone surrogates as escapes such as `\ud800`, which
 * many parsers reject. This function replaces each of these escapes by U+FFFD.
 */
const jsonOf = (value: unknown): string => {
  const json = JSON.stringify(value ?? null);
  return json.includes('\\ud')
    ? json.replaceAll(/\\(?:ud[89a-f][\da-f]{2}|.)/g, (escaped) =>
        escaped.length > 2 ? '\ufffd' : escaped,
      )
    : json;
};

type Answered = Pick<FunctionAnswer, 'value' | 'headers'> & { isFile?: boolean };

/** Returns the value as JSON. Text with another content type, or the text of a file, is sent unchanged. */
export const valueAnswer = (
  status: number,
  { value, headers, isFile = false }: Answered,
): ApiAnswer => {
  const given = contentTypeOf(headers);
  const isText = typeof value === 'string' && (isFile || !/\bjson\b(?!-)/i.test(given ?? 'json'));
  const answer = isText
    ? { ...jsonAnswer(status, value), headers }
    : { ...jsonAnswer(status, jsonOf(value)), headers, isWritten: true };
  return isFile ? { ...answer, isFile, contentType: 'application/octet-stream' } : answer;
};

const internalAnswer = (reason: string): ApiAnswer => ({
  ...jsonAnswer(500, '{"error":"internal"}'),
  reason,
});

/** Returns why HTTP cannot send these headers; undefined if it can. */
const faultOfHeaders = (headers: Readonly<Record<string, string>>): string | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    try {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
};

/**
 * Returns the answer for a failed function. A refusal of the store counts as the client's fault and gets the vendor's
 * `invalid` answer. An unknown entity is the exception: only the author's code can name one, so it is an internal
 * error.
 */
const failureAnswer = (
  { api, route }: ActionContext,
  { error, vendor }: Extract<RunResult, { ok: false }>,
): ApiAnswer => {
  if (vendor !== undefined) {
    const { status, body, headers = {} } = vendor;
    return valueAnswer(status, { value: body, headers });
  }
  const trace = error.details === undefined ? '' : ` ${JSON.stringify(error.details)}`;
  const reason = `${error.code}: ${error.message}${trace}`;
  const { kind, pointer, detail } = (error.details ?? {}) as Partial<Refusal>;
  if (error.code !== 'refused' || kind === 'unknown_entity') return internalAnswer(reason);
  const wrongs = [wrongAt(route, pointer ?? '', detail ?? error.message)];
  return invalidAnswer(api, { cause: causeOf(kind), wrongs, reason });
};

/** Throws if HTTP cannot send the headers. The check runs while the transaction can still be rolled back. */
const checkHeaders = (name: string, headers: Readonly<Record<string, string>>): void => {
  const fault = faultOfHeaders(headers);
  if (fault !== undefined) throw new FailedAction(internalAnswer(`raised: ${name}: ${fault}`));
};

/** Returns the function's answer. Throws `FailedAction` if the function failed. */
const answerOf = (context: ActionContext, name: string, result: RunResult): FunctionAnswer => {
  const { headers = {} } = result.ok ? result : (result.vendor ?? result);
  // The original error is reported even if the headers set before it cannot be sent.
  if (!result.ok && result.vendor === undefined) {
    const sent = faultOfHeaders(headers) === undefined ? headers : {};
    throw new FailedAction({ ...failureAnswer(context, result), headers: sent });
  }
  checkHeaders(name, headers);
  if (!result.ok) throw new FailedAction(failureAnswer(context, result));
  const { status = null, value, isFile = false } = result;
  return { status, value, headers, isFile };
};

const runOf = (context: ActionContext) => {
  const { api, args, bearers, body, request, route, seen, session } = context;
  const file = api.handlers ?? '';
  const access = createStoreAccess(session, bearers);
  return {
    language: file.endsWith('.ts') ? ('typescript' as const) : ('python' as const),
    file,
    input: { ...request, route: route.path, args: { ...args }, body: body ?? null },
    access: seen === undefined ? access : watchAccess(access, seen),
    watch: seen === undefined ? undefined : watchRun(seen),
    timeoutMs,
  };
};

/** Runs a handler in the transaction of the request. Throws `FailedAction` when it fails. */
export const runHandler = async (context: ActionContext, name: string): Promise<FunctionAnswer> => {
  const run = { ...runOf(context), as: 'handler' as const, function: name };
  return answerOf(context, name, await context.code.run(run));
};

/** Answer of `before`, and of the handler if the worker ran it in the same round trip. */
export type AnswerOfBefore = {
  before: FunctionAnswer;
  /**
   * Returns the handler's answer, or throws `FailedAction` if the handler failed. This function is undefined if the
   * handler did not run.
   */
  handler: (() => FunctionAnswer) | undefined;
};

/**
 * Runs `before` in the transaction of the request, and then `handler` if one is given and `before` lets the request
 * pass. One round trip to the worker serves both, because a second one costs as much as either function. Throws
 * `FailedAction` when `before` fails.
 */
export const runBeforeHandler = async (
  context: ActionContext,
  name: string,
  handler: string | undefined,
): Promise<AnswerOfBefore> => {
  let passed: RunResult | undefined;
  const onBegin = (before: RunResult): void => {
    passed = before;
  };
  const result = await context.code.run({
    ...runOf(context),
    as: 'before',
    function: name,
    next: handler === undefined ? undefined : { function: handler, onBegin },
  });
  return {
    before: answerOf(context, name, passed ?? result),
    handler: passed && (() => answerOf(context, handler ?? '', result)),
  };
};

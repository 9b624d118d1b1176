/**
 * Functions of the world's handlers module, as they take part in a request: what they return is the
 * body, `ctx.respond` and `ctx.fail` choose the answer themselves. A function that fails changes
 * nothing.
 */
import { http } from '#wire/http.ts';
import { watchAccess, watchRun } from '../../session/seen.ts';
import { createStoreAccess } from '../../session/store-access.ts';
import type { Refusal } from '../../usercode/protocol.ts';
import type { RunResult } from '../../usercode/run.ts';
import { type ApiAnswer, FailedAction, jsonAnswer } from '../answers/answer.ts';
import { causeOf, invalidAnswer, wrongAt } from '../answers/invalid-answer.ts';
import type { ActionContext } from './action.ts';

const timeoutMs = 30_000;

/** The answer of a function that came to an end by itself. */
export type FunctionAnswer = {
  /** Null unless `ctx.respond` was called. */
  status: number | null;
  value: unknown;
  headers: Record<string, string>;
  /** Whether the value is the text of a file. */
  isFile: boolean;
};

const contentTypeOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];

/**
 * JSON in which every text is made of characters: `JSON.stringify` writes halves of surrogate pairs as
 * escapes, which many readers refuse.
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

/** The value as JSON; a text of another content type is sent as it is, and so is a file of any. */
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

/** What HTTP has against these headers; undefined when they can be sent. */
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
 * What the store refused is taken for a fault of what the client sent, except for an entity that there
 * is not, which only code can name.
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

/** Throws where nobody could be sent the answer, while the transaction can still be undone. */
const checkHeaders = (name: string, headers: Readonly<Record<string, string>>): void => {
  const fault = faultOfHeaders(headers);
  if (fault !== undefined) throw new FailedAction(internalAnswer(`raised: ${name}: ${fault}`));
};

/** What a function came to. Throws `FailedAction` when it failed. */
const answerOf = (context: ActionContext, name: string, result: RunResult): FunctionAnswer => {
  const { headers = {} } = result.ok ? result : (result.vendor ?? result);
  // What went wrong is told, also where the headers that were set before could not be sent.
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

/** What came of `before`, and of the handler where that was run with it. */
export type AnswerOfBefore = {
  before: FunctionAnswer;
  /** Throws `FailedAction` when it failed. */
  handler: (() => FunctionAnswer) | undefined;
};

/**
 * Runs `before` in the transaction of the request, and a handler with it where nothing speaks against that:
 * going to and fro between the processes once more costs as much as either. Throws `FailedAction` when `before` fails.
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

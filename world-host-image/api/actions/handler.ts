/**
 * Action `handler`: the author's function answers. What it returns is the body; `ctx.respond` and
 * `ctx.fail` choose the status themselves. A function that fails changes nothing.
 */
import { createStoreAccess } from '../../session/store-access.ts';
import type { RunResult } from '../../usercode/run.ts';
import { type ApiAnswer, jsonAnswer, vendorAnswer } from '../answer.ts';
import { type Action, type ActionContext, FailedAction } from './action.ts';

const handlerTimeoutMs = 30_000;

const bodyText = (value: unknown): string => JSON.stringify(value ?? null);

const failureAnswer = (
  { api }: ActionContext,
  { error, vendor }: Extract<RunResult, { ok: false }>,
): ApiAnswer => {
  const trace = error.details === undefined ? '' : ` ${JSON.stringify(error.details)}`;
  const reason = `${error.code}: ${error.message}${trace}`;
  if (vendor !== undefined) {
    const { status, body, headers = {} } = vendor;
    return { ...jsonAnswer(status, bodyText(body)), headers, reason };
  }
  if (error.code === 'refused') return vendorAnswer(api, api.invalid, reason);
  return { ...jsonAnswer(500, '{"error":"internal"}'), reason };
};

export const handler: Action = async (context) => {
  const { api, args, body, code, request, route, session } = context;
  const file = api.handlers ?? '';
  const result = await code.run({
    language: file.endsWith('.ts') ? 'typescript' : 'python',
    file,
    function: route.handler ?? '',
    as: 'handler',
    input: { ...request, args: { ...args }, body: body ?? null },
    access: createStoreAccess(session),
    timeoutMs: handlerTimeoutMs,
  });
  if (!result.ok) throw new FailedAction(failureAnswer(context, result));
  const answer = jsonAnswer(result.status ?? route.status, bodyText(result.value));
  return { ...answer, headers: result.headers ?? {} };
};

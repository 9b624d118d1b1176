/**
 * Plays the steps of a solution as an agent would take them: calls go the way of calls, requests that of the API. A
 * step that is refused is told, and the ones after it are taken all the same. Scripts take their steps by the same way.
 */
import type { CallError } from '#domain/call.ts';
import { describeError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import {
  fillStep,
  nameStep,
  type RequestStep,
  readReference,
  type Step,
} from '#language/solution.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import { bodyValue, type TextAnswer, textAnswer } from '../api/answers/answer.ts';
import { noteRequest } from '../api/note-request.ts';
import { answerRequest } from '../api/request.ts';
import type { Session } from '../session/session.ts';

/** Runs a call on a session; what it fails with is its answer. */
export type RunOther = (session: Session, call: HostCall) => Promise<CallAnswer>;

export type Played = { output: unknown; changed: boolean; refusal?: string };

const mostRefusalChars = 300;

const refused = (refusal: string): Played => ({
  output: null,
  changed: false,
  refusal: refusal.slice(0, mostRefusalChars),
});

/** A body as it is sent: a text of a type that is not JSON goes as it is written. */
const bytesOf = (body: unknown, contentType: string): Buffer => {
  if (body === undefined) return Buffer.alloc(0);
  const isText = typeof body === 'string' && !/\bjson\b/i.test(contentType);
  return Buffer.from(isText ? body : JSON.stringify(body));
};

const ask = async (session: Session, { method, path, headers, body, auth }: RequestStep) => {
  const at = new Date();
  const startedAt = performance.now();
  const [below = '/', query = ''] = path.split(/\?(.*)/s, 2);
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const sent: Record<string, string> = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(auth === false ? {} : { authorization: `Bearer ${session.token.reveal()}` }),
    ...Object.fromEntries(given),
  };
  const bytes = bytesOf(body, sent['content-type'] ?? '');
  const request = {
    method,
    path: below,
    query: new URLSearchParams(query),
    headers: sent,
    readBody: async () => bytes,
  };
  const outcome = await answerRequest(session, request);
  noteRequest(session, request, outcome, { via: 'api', at, startedAt });
  return outcome;
};

/** What a step came to; `told` is what the agent hears of it. */
type Taken<Told> = { played: Played; told: Told };

/** Sends a request of a solution. */
export const takeRequest = async (
  session: Session,
  request: RequestStep,
): Promise<Taken<TextAnswer>> => {
  const { answer, changes, sent } = await ask(session, request);
  const played =
    answer.status >= 400
      ? refused(`it is answered ${answer.status}: ${answer.body ?? ''}`)
      : { output: bodyValue(answer), changed: Object.keys(changes).length > 0 };
  return { played, told: textAnswer(sent) };
};

const callOf = (
  step: Exclude<Step, { request: RequestStep }>,
): Pick<HostCall, 'kind' | 'name' | 'input'> =>
  'tool' in step
    ? { kind: 'tool', name: step.tool, input: step.input ?? {} }
    : { kind: 'answer', name: null, input: { answer: step.answer } };

/** Calls a tool, or gives the answer. */
export const takeCall = async (
  session: Session,
  run: RunOther,
  step: Exclude<Step, { request: RequestStep }>,
): Promise<Taken<{ output: unknown } | { error: CallError }>> => {
  const { error, output, changes } = await run(session, { id: 'proof', seq: 1, ...callOf(step) });
  if (error !== undefined) {
    return { played: refused(`${error.code}: ${error.message}`), told: { error } };
  }
  // An answer is no change of a row, and still something that a grader looks at.
  const changed = 'answer' in step || Object.keys(changes).length > 0;
  return { played: { output, changed }, told: { output: output ?? null } };
};

/** What a reference stands for. Throws where there is no such thing. */
const find = (text: string, played: readonly (Played | undefined)[]): unknown => {
  const { step = -1, path = [] } = readReference(text) ?? {};
  let value = played[step]?.output;
  for (const part of path) {
    const isMember = (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, part);
    value = isMember ? (value as Record<string | number, unknown>)[part] : undefined;
  }
  if (value === undefined) throw new Error(`there is no ${text}`);
  return value;
};

const playStep = async (
  session: Session,
  run: RunOther,
  written: Step,
  played: readonly (Played | undefined)[],
): Promise<Played> => {
  let step: Step;
  try {
    step = fillStep(written, (text) => find(text, played));
  } catch (error) {
    return refused(describeError(error));
  }
  const { played: came } =
    'request' in step
      ? await takeRequest(session, step.request)
      : await takeCall(session, run, step);
  return came;
};

/** Plays all steps but one; undefined stands for that one. Throws the reason of `signal` between two steps. */
export const playSteps = async (
  session: Session,
  run: RunOther,
  {
    steps,
    without,
    signal,
  }: { steps: readonly Step[]; without?: number | undefined; signal: AbortSignal },
): Promise<(Played | undefined)[]> => {
  const played: (Played | undefined)[] = [];
  for (const [index, step] of steps.entries()) {
    signal.throwIfAborted();
    played.push(index === without ? undefined : await playStep(session, run, step, played));
  }
  return played;
};

/** The first step that was refused, in words. */
export const refusalIn = (
  steps: readonly Step[],
  played: readonly (Played | undefined)[],
): string | undefined => {
  const index = played.findIndex((one) => one?.refusal !== undefined);
  const step = steps[index];
  if (step === undefined) return undefined;
  return `step ${index + 1}, ${nameStep(step)}: ${played[index]?.refusal}`;
};

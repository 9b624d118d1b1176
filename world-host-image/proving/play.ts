/**
 * Plays the steps of a solution as an agent would: calls run as calls, and requests go through the API. If a step is
 * refused, that is reported, and the later steps are played nevertheless. Scripts use the same functions.
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

/** Function that runs a call on a session; a failure is returned as its answer. */
export type RunOther = (session: Session, call: HostCall) => Promise<CallAnswer>;

export type Played = { output: unknown; changed: boolean; refusal?: string };

const mostRefusalChars = 300;

const refused = (refusal: string): Played => ({
  output: null,
  changed: false,
  refusal: refusal.slice(0, mostRefusalChars),
});

/** Returns a request's body as bytes. A text with a media type other than JSON is sent unchanged. */
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

/** Result of a step: `played` is what the proof records, `answer` is what the agent receives. */
type Taken<Answer> = { played: Played; answer: Answer };

/** Sends a request of a solution. */
export const takeRequest = async (
  session: Session,
  request: RequestStep,
): Promise<Taken<TextAnswer>> => {
  const { answer, changes, sent } = await ask(session, request);
  const played =
    answer.status >= 400
      ? refused(`the request was answered ${answer.status}: ${answer.body ?? ''}`)
      : { output: bodyValue(answer), changed: Object.keys(changes).length > 0 };
  return { played, answer: textAnswer(sent) };
};

const callOf = (
  step: Exclude<Step, { request: RequestStep }>,
): Pick<HostCall, 'kind' | 'name' | 'input'> =>
  'tool' in step
    ? { kind: 'tool', name: step.tool, input: step.input ?? {} }
    : { kind: 'answer', name: null, input: { answer: step.answer } };

/** Calls a tool, or submits the answer. */
export const takeCall = async (
  session: Session,
  run: RunOther,
  step: Exclude<Step, { request: RequestStep }>,
): Promise<Taken<{ output: unknown } | { error: CallError }>> => {
  const { error, output, changes } = await run(session, { id: 'proof', seq: 1, ...callOf(step) });
  if (error !== undefined) {
    return { played: refused(`${error.code}: ${error.message}`), answer: { error } };
  }
  // An answer changes no row, but a grader still looks at it.
  const changed = 'answer' in step || Object.keys(changes).length > 0;
  return { played: { output, changed }, answer: { output: output ?? null } };
};

/** Returns the value that a reference in a step means. Throws if the reference has no value. */
const find = (text: string, played: readonly (Played | undefined)[]): unknown => {
  const { step = -1, path = [] } = readReference(text) ?? {};
  let value = played[step]?.output;
  for (const part of path) {
    const isMember = (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, part);
    value = isMember ? (value as Record<string | number, unknown>)[part] : undefined;
  }
  if (value === undefined) throw new Error(`the reference ${text} has no value`);
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

/**
 * Plays all steps except the one at index `without`, whose result is undefined. If `signal` aborts, throws its reason
 * before the next step.
 */
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

/** Describes the first step that was refused; returns undefined if none was. */
export const refusalIn = (
  steps: readonly Step[],
  played: readonly (Played | undefined)[],
): string | undefined => {
  const index = played.findIndex((one) => one?.refusal !== undefined);
  const step = steps[index];
  if (step === undefined) return undefined;
  return `step ${index + 1}, ${nameStep(step)}: ${played[index]?.refusal}`;
};

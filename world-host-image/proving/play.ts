/**
 * Plays the steps of a solution as an agent would take them: calls go the way of calls, requests that of the API. A
 * step that is refused is told, and the ones after it are taken all the same.
 */
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
import { bodyValue } from '../api/answers/answer.ts';
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

const ask = async (session: Session, { method, path, headers, body }: RequestStep) => {
  const at = new Date();
  const startedAt = performance.now();
  const [below = '/', query = ''] = path.split(/\?(.*)/s, 2);
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const request = {
    method,
    path: below,
    query: new URLSearchParams(query),
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...Object.fromEntries(given),
      authorization: `Bearer ${session.token.reveal()}`,
    },
    readBody: async () => bytes,
  };
  const outcome = await answerRequest(session, request);
  noteRequest(session, request, outcome, at, startedAt);
  return outcome;
};

const playRequest = async (session: Session, request: RequestStep): Promise<Played> => {
  const { answer, changes } = await ask(session, request);
  const output = bodyValue(answer);
  if (answer.status >= 400) return refused(`it is answered ${answer.status}: ${answer.body ?? ''}`);
  return { output, changed: Object.keys(changes).length > 0 };
};

const callOf = (
  step: Exclude<Step, { request: RequestStep }>,
): Pick<HostCall, 'kind' | 'name' | 'input'> =>
  'tool' in step
    ? { kind: 'tool', name: step.tool, input: step.input ?? {} }
    : { kind: 'answer', name: null, input: { answer: step.answer } };

const playCall = async (
  session: Session,
  run: RunOther,
  step: Exclude<Step, { request: RequestStep }>,
): Promise<Played> => {
  const { error, output, changes } = await run(session, { id: 'proof', seq: 1, ...callOf(step) });
  if (error !== undefined) return refused(`${error.code}: ${error.message}`);
  // An answer is no change of a row, and still something that a grader looks at.
  return { output, changed: 'answer' in step || Object.keys(changes).length > 0 };
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
  return 'request' in step ? playRequest(session, step.request) : playCall(session, run, step);
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

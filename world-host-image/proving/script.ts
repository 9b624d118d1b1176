/**
 * Runs a script that solves a task, in a sandboxed process of its own. Like an agent, the script uses tools, requests
 * and its answer. Its actions are recorded as steps, so that the proof can later leave out each of them.
 */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import {
  type RequestStep,
  type Script,
  type Step,
  solutionLimits,
  stepMethods,
} from '#language/solution.ts';
import type { Session } from '../session/session.ts';
import { createStoreAccess } from '../session/store-access.ts';
import type { RunResult } from '../usercode/run.ts';
import { type Played, type RunOther, takeCall, takeRequest } from './play.ts';

/** Time limit of a script, in milliseconds. */
const mostMs = 20_000;

const fileNames = { python: 'solution.py', typescript: 'solution.ts' } as const;

/** Recorded actions of a script, without the refused actions; `fault` is the reason why the script did not finish. */
export type ScriptRun = { steps: Step[]; fault?: string };

const methodOf = (given: unknown): RequestStep['method'] => {
  const method = stepMethods.find((one) => one === String(given).toUpperCase());
  if (method !== undefined) return method;
  throw new AppError('invalid', `a method is one of ${stepMethods.join(', ')}`);
};

const textsOf = (given: unknown): Record<string, string> =>
  isObject(given)
    ? Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
    : {};

const requestOf = ({ method, path, headers, body, auth }: Row): RequestStep => {
  const texts = textsOf(headers);
  return {
    method: methodOf(method),
    path: String(path).startsWith('/') ? String(path) : `/${path}`,
    ...(Object.keys(texts).length === 0 ? {} : { headers: texts }),
    ...(typeof body === 'string' ? { body: JSON.parse(body) as unknown } : {}),
    ...(auth === false ? { auth } : {}),
  };
};

/** Makes the recorder, which executes a script's requests and records its actions. */
const createRecorder = (session: Session, run: RunOther) => {
  const { rows: _, ...access } = createStoreAccess(session);
  const steps: Step[] = [];
  let taken = 0;

  const keep = <Answer>(
    step: Step,
    { played, answer }: { played: Played; answer: Answer },
  ): Answer => {
    if (played.refusal === undefined) steps.push(step);
    return answer;
  };

  const answer = async (operation: string, given: Row): Promise<unknown> => {
    if (operation === 'now') return access.now();
    taken += 1;
    if (taken > solutionLimits.steps) {
      throw new AppError('exhausted', `a script takes at most ${solutionLimits.steps} steps`);
    }
    switch (operation) {
      case 'tool': {
        const input = isObject(given.input) ? (given.input as Row) : {};
        const step = { tool: String(given.name), input };
        return keep(step, await takeCall(session, run, step));
      }
      case 'request': {
        const request = requestOf(given);
        return keep({ request }, await takeRequest(session, request));
      }
      case 'answer': {
        const step = { answer: given.answer ?? null };
        return keep(step, await takeCall(session, run, step));
      }
      default: {
        const message = `a solution acts as an agent does: by world.tools, world.api and world.answer, not by "${operation}"`;
        throw new AppError('forbidden', message);
      }
    }
  };
  return { access, answer, steps };
};

const faultOf = (result: RunResult): string | undefined =>
  result.ok ? undefined : `${result.error.code}: ${result.error.message}`;

/** Runs the script on the session in its present state. If `signal` aborts, throws its reason. */
export const runScript = async (
  session: Session,
  run: RunOther,
  { language, source }: Script,
  signal: AbortSignal,
): Promise<ScriptRun> => {
  const file = fileNames[language];
  const content = new TextEncoder().encode(source);
  const runner = session.world.code.openTester([{ path: file, content }], language, []);
  const { access, answer, steps } = createRecorder(session, run);
  const stop = (): void => void runner.end();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const result = await runner.run({
      language,
      file,
      function: 'solve',
      as: 'tool',
      input: {},
      access,
      answer,
      timeoutMs: mostMs,
    });
    signal.throwIfAborted();
    const fault = faultOf(result);
    return fault === undefined ? { steps } : { steps, fault };
  } finally {
    signal.removeEventListener('abort', stop);
    await runner.end();
  }
};

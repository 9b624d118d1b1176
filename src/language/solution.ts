/**
 * Solution of a task, as its author writes it: tool calls, requests to the world's API, and the answer; or a script
 * that does these. The proof of a task runs its solutions; they are never shown to an agent.
 *
 * A step may use results of earlier steps. `{"$ref": "steps[0].output.id"}` may replace any value; steps count from 0,
 * and the output of a request is the body of its answer. `{steps[0].output.id}` may be within the path of a request.
 */
import { isObject } from '#domain/json.ts';

type Row = Record<string, unknown>;

export const stepMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type RequestStep = {
  method: (typeof stepMethods)[number];
  /** Path of the request, with its query. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** True if the request has the session's token; true by default. */
  auth?: boolean;
};

export type Step = { tool: string; input?: Row } | { request: RequestStep } | { answer: unknown };

export const scriptLanguages = ['python', 'typescript'] as const;

/** A module with a function `solve` without arguments, which uses `world` of `svc_env.testing`. */
export type Script = { language: (typeof scriptLanguages)[number]; source: string };

export type Solution = { steps: Step[] } | { script: Script };

export const solutionLimits = { steps: 100, alternatives: 10, scriptChars: 65_536 } as const;

/** Returns the language of a script by its file name; undefined for other files. */
export const scriptLanguage = (file: string): Script['language'] | undefined => {
  if (file.endsWith('.py')) return 'python';
  return file.endsWith('.ts') ? 'typescript' : undefined;
};

export type Reference = { step: number; path: (string | number)[] };

const referencePattern = /^steps\[(\d{1,3})\]\.output((?:\.[A-Za-z_$][\w$-]*|\[\d{1,6}\])*)$/;
const partPattern = /\.([A-Za-z_$][\w$-]*)|\[(\d{1,6})\]/g;
/** Pattern of a text within the path of a request that looks like a reference. */
const withinPath = /\{(steps\[[^{}]*)\}/g;

/** Parses a reference; undefined if the text is not one. */
export const readReference = (text: string): Reference | undefined => {
  const [, step, rest = ''] = referencePattern.exec(text) ?? [];
  if (step === undefined) return undefined;
  const path = [...rest.matchAll(partPattern)].map(([, name, index]) => name ?? Number(index));
  return { step: Number(step), path };
};

/**
 * Returns the text of a reference object; undefined for any other value. Another object with a `$ref` is an ordinary
 * value.
 */
const referenceIn = (value: unknown): string | undefined => {
  if (!isObject(value) || Object.keys(value).length !== 1) return undefined;
  const { $ref: text } = value;
  return typeof text === 'string' && text.startsWith('steps[') ? text : undefined;
};

/** Replaces the references in a value. If `find` throws, the error is passed on. */
const fill = (value: unknown, find: (text: string) => unknown): unknown => {
  const reference = referenceIn(value);
  if (reference !== undefined) return find(reference);
  if (Array.isArray(value)) return value.map((item) => fill(item, find));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, find)]));
};

/** Replaces the references in a step. */
export const fillStep = (step: Step, find: (text: string) => unknown): Step => {
  if ('tool' in step) {
    return step.input === undefined ? step : { ...step, input: fill(step.input, find) as Row };
  }
  if ('answer' in step) return { answer: fill(step.answer, find) };
  const { path, body, ...rest } = step.request;
  const filled = path.replaceAll(withinPath, (_, text: string) =>
    encodeURIComponent(String(find(text))),
  );
  const request = { ...rest, path: filled };
  return { request: body === undefined ? request : { ...request, body: fill(body, find) } };
};

/** Returns a short name for a step, without the step's arguments. */
export const nameStep = (step: Step): string => {
  if ('tool' in step) return step.tool;
  return 'answer' in step ? 'answer' : `${step.request.method} ${step.request.path}`;
};

export type SolutionFault = { path: string[]; message: string };

/** Tools and routes that a solution may use. */
export type Solvable = {
  hasApi: boolean;
  toolFault(name: string): string | undefined;
  /** Returns why no route answers such a request; undefined if a route does. `path` has no query. */
  routeFault(method: string, path: string): string | undefined;
};

/** Returns the path without its query, with `x` in place of each reference to an earlier step. */
const plainPath = (path: string): string =>
  path.replaceAll(withinPath, 'x').replace(/[?#].*$/s, '');

const referenceFaults = (step: Step, index: number): string[] => {
  const faults: string[] = [];
  fillStep(step, (text) => {
    const reference = readReference(text);
    if (reference === undefined) {
      faults.push(`"${text.slice(0, 100)}" is not a reference; write it like steps[0].output.id`);
    } else if (reference.step >= index) {
      faults.push(
        `"${text.slice(0, 100)}" does not name an earlier step; step ${index} may use steps 0 to ${index - 1}`,
      );
    }
    return '';
  });
  return faults;
};

const stepFaults = (step: Step, { hasApi, toolFault, routeFault }: Solvable): SolutionFault[] => {
  if ('tool' in step) {
    const message = toolFault(step.tool);
    return message === undefined ? [] : [{ path: ['tool'], message }];
  }
  if ('answer' in step) return [];
  if (!hasApi) return [{ path: ['request'], message: 'the world has no API; use its tools' }];
  const { method, path } = step.request;
  const message = path.startsWith('/')
    ? routeFault(method, plainPath(path))
    : 'must begin with "/"';
  return message === undefined ? [] : [{ path: ['request', 'path'], message }];
};

/**
 * Returns the faults of a solution, each with its place within the solution. Faults of a script appear only when it
 * runs.
 */
export const solutionFaults = (solution: Solution, of: Solvable): SolutionFault[] => {
  if ('script' in solution) return [];
  return solution.steps.flatMap((step, index) => {
    const below = ['steps', String(index)];
    const references = referenceFaults(step, index).map((message) => ({ path: below, message }));
    const others = stepFaults(step, of).map(({ path, message }) => ({
      path: [...below, ...path],
      message,
    }));
    return [...others, ...references];
  });
};

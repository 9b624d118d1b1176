/**
 * End states of tasks, and how a person would judge them. The tables beside this file list such states, task by task;
 * `world-host-image/code-hosting/end-states.test.ts` creates and grades each.
 */
import { parse } from 'smol-toml';
import type { Row } from '#language/contract.ts';
import type { CodeHost } from '../../templates/code-hosting.ts';
import { scenarioText } from '../worlds.ts';

export type Step =
  | { tool: string; input: Row }
  | { request: { method: string; path: string; body?: Row } }
  | { answer: unknown };

export type Solution = { steps: Step[] };

export type EndState = {
  /** Description of the agent's actions. */
  what: string;
  /** First actions: the solution of the task, one of its alternatives, or nothing. */
  first?: 'solution' | 'alternative';
  /** Actions after the first ones. */
  next?: (world: CodeHost) => Promise<unknown>;
  verdict: 'pass' | 'fail';
  /** Checks that have to be among those that fail. */
  because?: string[];
};

export type EndStates = { task: string; states: EndState[] };

/** Name of the check that a closed task has besides its own. */
export const nothingElse = 'nothing else changed';

/** Returns the solution of a bundled task, and its alternatives, which are as correct. */
export const solutionsOf = (task: string): { solution: Solution; alternatives: Solution[] } => {
  const { solution, alternatives = [] } = parse(scenarioText('code-hosting', task)) as {
    solution?: Solution;
    alternatives?: Solution[];
  };
  if (solution === undefined) throw new Error(`the task ${task} has no solution`);
  return { solution, alternatives };
};

type Outcome = { output: unknown };

/** Replaces references to earlier steps by their values: `{ "$ref": "steps[0].output.number" }`. */
const filled = (value: unknown, steps: readonly Outcome[]): unknown => {
  if (Array.isArray(value)) return value.map((item) => filled(item, steps));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) {
    const path = String(value.$ref).split(/[.[\]]+/);
    return path.reduce<unknown>((at, key) => (at as Row)[key], { steps });
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, steps)]));
};

/** Sends a request as an agent would; throws when it is refused. */
export const send = async (
  world: CodeHost,
  method: string,
  path: string,
  body?: unknown,
): Promise<Row> => {
  const { response, body: answered } = await world.ask(method, path, body);
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answered)}`);
  }
  return answered;
};

const run = async (world: CodeHost, step: Step, before: readonly Outcome[]): Promise<unknown> => {
  if ('tool' in step) return world.tool(step.tool, filled(step.input, before) as Row);
  if ('answer' in step) return answer(world, step.answer);
  const { method, path, body } = step.request;
  return send(world, method, path, filled(body, before));
};

/** Runs the steps of a solution, one after the other. */
export const follow = async (world: CodeHost, { steps }: Solution): Promise<void> => {
  const before: Outcome[] = [];
  for (const step of steps) before.push({ output: await run(world, step, before) });
};

/** Answers the task's question, as an agent does. */
export const answer = async (world: CodeHost, value: unknown): Promise<void> => {
  const { error } = await world.call('answer' as never, undefined, { answer: value });
  if (error !== undefined) throw new Error(JSON.stringify(error));
};

/** Adds more rows than an agent would by hand. */
export const flood = async (
  world: CodeHost,
  entity: string,
  count: number,
  row: (index: number) => Row,
): Promise<void> => {
  const rows = { [entity]: Array.from({ length: count }, (_, index) => row(index)) };
  const { error } = await world.call('seed', undefined, { rows });
  if (error !== undefined) throw new Error(JSON.stringify(error));
};

/**
 * Provides the world to one test after another. Each test begins with the rows of the version. A test acts on the world
 * by tools and requests, as an agent does, or changes the rows directly, or proves a task of the world. The session's
 * ledger records none of this, and no webhook is sent.
 */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import { specOfBundled } from '#wire/public-api/worlds/bundled-task.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { textAnswer } from '../api/answers/answer.ts';
import { answerRequest } from '../api/request.ts';
import { callErrorOf } from '../calls/answers/failure.ts';
import { runTool } from '../calls/tools/run-tool.ts';
import type { RunOther } from '../proving/play.ts';
import { prove } from '../proving/prove.ts';
import type { Delivery } from '../session/outbox.ts';
import { seedTask } from '../session/seed-task.ts';
import { resetTurns, type Session, withoutFaults } from '../session/session.ts';
import { createStoreAccess } from '../session/store-access.ts';
import { runOperation } from '../usercode/rows/operations.ts';
import type { StoreAccess } from '../usercode/run.ts';

export type Stage = {
  access: StoreAccess;
  /** Restores the state in which a test begins. */
  reset(): Promise<void>;
  /** Executes an operation that a test requests. */
  answer(operation: string, given: Row): Promise<unknown>;
};

/** Maximum number of deliveries that a test can read. */
const mostDeliveries = 1_000;

const textsOf = (value: unknown): Record<string, string> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, text]) => [name.toLowerCase(), String(text)]),
      )
    : {};

const requestOf = ({ token }: Session, given: Row) => {
  const { method, path, body, auth } = given;
  const target = String(path).startsWith('/') ? String(path) : `/${path}`;
  const mark = target.indexOf('?');
  const sent = typeof body === 'string' ? Buffer.from(body) : Buffer.alloc(0);
  const headers = {
    ...(sent.length > 0 ? { 'content-type': 'application/json' } : {}),
    ...(auth === false ? {} : { authorization: `Bearer ${token.reveal()}` }),
    ...textsOf(given.headers),
  };
  return {
    method: String(method).toUpperCase(),
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
    headers,
    readBody: async () => (sent.length > limits.bodyBytes ? undefined : sent),
  };
};

/** Makes the stage for a session that no other caller uses meanwhile. Faults are off, because tests judge the world. */
export const openStage = (given: Session, run: RunOther): Stage => {
  const session: Session = withoutFaults(given);
  const { links, tokens, world } = session;
  const { store } = world;
  // Rows also change between a process's runs, so no process may cache any.
  const { rows: _, ...access } = createStoreAccess(session);
  let sent: Delivery[] = [];

  const keep = (deliveries: readonly Delivery[]): void => {
    sent = [...sent, ...deliveries].slice(0, mostDeliveries);
  };

  const callTool = async ({ name, input }: Row): Promise<unknown> => {
    try {
      const { output, outgoing } = await runTool(
        session,
        String(name),
        isObject(input) ? (input as Row) : {},
      );
      keep(outgoing.deliveries);
      return { output: output ?? null };
    } catch (error) {
      const failed = callErrorOf(error);
      if (failed === undefined) throw error;
      return { error: failed };
    }
  };

  const request = async (given: Row): Promise<unknown> => {
    const outcome = await answerRequest(session, requestOf(session, given));
    keep(outcome.outgoing.deliveries);
    if (outcome.fault !== undefined) throw outcome.fault;
    return textAnswer(outcome.sent);
  };

  const reset = async (): Promise<void> => {
    await store.exclusively(() => {
      store.rollBackTo('task');
      for (const { world: linked } of links.values()) linked.store.rollBackTo('task');
      tokens.clear();
      resetTurns(session);
    });
    sent = [];
  };

  /** Resets the world to the rows of the version, and adds those of a task. */
  const beginOn = async (task: TaskSpec | null): Promise<void> => {
    await store.exclusively(() => store.rollBackTo('base'));
    await seedTask(world, task);
    store.mark('task');
    await reset();
  };

  /** Proves a task of the world, and restores the session's initial state. */
  const proveTask = async ({ task: name }: Row): Promise<unknown> => {
    const { contract } = world;
    const task = contract.tasks.find((one) => one.name === name);
    if (task === undefined) {
      const names = contract.tasks.map((one) => one.name).join(', ') || 'none';
      throw new AppError('not_found', `the world has no task "${name}"; it has ${names}`);
    }
    const spec = specOfBundled(task);
    try {
      await beginOn(spec);
      return await prove({ ...session, task: spec }, run);
    } finally {
      await beginOn(null);
    }
  };

  const operate = (operation: string, given: Row): Promise<unknown> =>
    store
      .atomically(async () => JSON.parse(runOperation(access, operation, given)) as unknown)
      .then(({ value }) => value);

  return {
    access,
    reset,
    answer(operation, given) {
      switch (operation) {
        case 'tool':
          return callTool(given);
        case 'request':
          return request(given);
        case 'prove':
          return proveTask(given);
        case 'answer':
          throw new AppError('forbidden', 'a test cannot submit an answer, because it has no task');
        case 'deliveries':
          return Promise.resolve(
            sent.map(({ event, url, headers, body }) => ({ event, url, headers, body })),
          );
        default:
          return operate(operation, given);
      }
    },
  };
};

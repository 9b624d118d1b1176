/**
 * Current run in the TypeScript worker: its requests to the store, and the events that can end it before its function
 * returns. `AsyncLocalStorage` connects code to its run, so that leftovers of one run cannot act in the name of
 * another.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type RowCache, ask as unknown } from './row-cache.ts';

type Json = { [field: string]: unknown };

/**
 * Error for a read or a write that the store refused and therefore did not do. The read or write throws the error, and
 * code can catch it. Two faults are found only at the end of the call, and then fail the call: a row was removed
 * although other rows still refer to it, or a row is missing in an entity that refers back (to itself, or through other
 * entities).
 */
export class Refused extends Error {
  readonly entity: string;
  /**
   * Kind of refusal: `shape`, `duplicate`, `missing_reference`, `referenced`, `not_found`, `unknown_entity` or `full`.
   */
  readonly kind: string;
  /** Top-level field at fault; null if no field is. */
  readonly field: string | null;
  /** JSON pointer to the value at fault; null if no value is. */
  readonly pointer: string | null;
  readonly detail: string;

  constructor(facts: Pick<Refused, 'entity' | 'kind' | 'field' | 'pointer' | 'detail'>) {
    super(`${facts.entity}${facts.pointer ?? ''}: ${facts.detail}`);
    this.name = 'Refused';
    this.entity = facts.entity;
    this.kind = facts.kind;
    this.field = facts.field;
    this.pointer = facts.pointer;
    this.detail = facts.detail;
  }
}

/** Error thrown by `fail`. */
export class Failed extends Error {
  readonly code: string;
  readonly details: Json;

  constructor(message: string, code: string, details: Json) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Error thrown by `ctx.fail`: the vendor's own error answer. */
export class Answered extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, body: unknown, headers: Record<string, string>) {
    super(`answered ${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export type Reply = { id: number; value?: unknown; refusal?: Refused };

/**
 * World time from the host, and the machine time until which it is valid; null means that it is valid as long as the
 * run lasts.
 */
export type GivenTime = { iso: string; untilMs: number | null };

/** Next automatic numbers of fields from the host, by entity. An entity is removed when the run writes to it. */
export type GivenNumbers = Record<string, Record<string, number>>;

const writes: ReadonlySet<string> = new Set(['insert', 'update', 'remove']);

export type Run = {
  /** Requests a store operation. Rejects with `Refused` if the store refuses it. */
  ask(operation: string, given: Json): Promise<unknown>;
  /** Returns the world's time. */
  now(): Promise<unknown>;
  /** Headers that a handler has set so far. They are sent with the answer, whatever it is. */
  headers: Record<string, string>;
};

/** Run with the members that only the worker uses. */
export type OpenRun = Run & {
  nonce: string;
  /** Returns the names of the request headers that were read; undefined if they need not be reported. */
  seenHeaders: (() => string[] | 'all') | undefined;
  /** Returns true if the run used the time that was sent with it. */
  isTimed(): boolean;
  /** Returns true if the run used a number that was sent with it. */
  isNumbered(): boolean;
  /** Settles a request with its answer. */
  reply(reply: Reply): void;
  isIdle(): boolean;
  /** Resolves when no request is pending. */
  settled(): Promise<void>;
  /** Rejects if code of the run threw an error that no other code awaited. */
  unawaited: Promise<never>;
  failUnawaited(error: unknown): void;
  isOver(): boolean;
  end(): void;
};

/** Function that returns the machine time. It is captured before an author's code can replace it. */
const machineMs = Date.now;

type Waiting = { resolve(value: unknown): void; reject(error: unknown): void; place: Error };

/** Opens a run. Its requests are sent by `send`, unless the row cache or the data sent with the run can answer them. */
export const openRun = (
  { nonce, time, numbers }: { nonce: string; time: GivenTime | null; numbers: GivenNumbers | null },
  send: (message: Json) => void,
  cache: Pick<RowCache, 'read'>,
): OpenRun => {
  const waiting = new Map<number, Waiting>();
  const unawaitedError = Promise.withResolvers<never>();
  unawaitedError.promise.catch(() => undefined); // The worker awaits it later.
  let asked = 0;
  let over = false;
  let isTimed = false;
  let isNumbered = false;
  let idle = Promise.withResolvers<void>();
  idle.resolve();

  const askHost = (operation: string, given: Json): Promise<unknown> => {
    asked += 1;
    const id = asked;
    const answer = Promise.withResolvers<unknown>();
    send({ type: 'ask', nonce, id, operation, arguments: given });
    if (waiting.size === 0) idle = Promise.withResolvers();
    waiting.set(id, { ...answer, place: new Error('asked here') });
    return answer.promise;
  };

  /** Returns the number that an operation requests, if that number was sent with the run. */
  const numberOf = (operation: string, { entity, field, within }: Json): unknown => {
    if (operation !== 'next' || typeof entity !== 'string' || typeof field !== 'string')
      return unknown;
    const isWhole = within === undefined || within === null;
    if (!isWhole || numbers === null || !Object.hasOwn(numbers, entity)) return unknown;
    const ofEntity = numbers[entity] ?? {};
    if (!Object.hasOwn(ofEntity, field)) return unknown;
    isNumbered = true;
    return ofEntity[field];
  };

  const answerHere = (operation: string, given: Json): unknown => {
    const read = cache.read(operation, given);
    return read === unknown ? numberOf(operation, given) : read;
  };

  const checkOpen = (): void => {
    if (over) throw new Error('the call has ended, so its world can no longer be used');
  };

  return {
    nonce,
    isTimed: () => isTimed,
    isNumbered: () => isNumbered,
    async now() {
      checkOpen();
      if (time === null || (time.untilMs !== null && machineMs() >= time.untilMs)) {
        return askHost('now', {});
      }
      isTimed = true;
      return time.iso;
    },
    seenHeaders: undefined,
    headers: {},
    unawaited: unawaitedError.promise,
    failUnawaited: unawaitedError.reject,
    ask(operation, given) {
      checkOpen();
      // A read after a pending request must see what that request writes.
      const answer = waiting.size === 0 ? answerHere(operation, given) : unknown;
      if (writes.has(operation)) delete numbers?.[String(given.entity)];
      return answer === unknown ? askHost(operation, given) : Promise.resolve(answer);
    },
    reply({ id, value, refusal }) {
      const question = waiting.get(id);
      waiting.delete(id);
      if (refusal === undefined) question?.resolve(value);
      else question?.reject(refused(refusal, question.place));
      if (waiting.size === 0) idle.resolve();
    },
    isIdle: () => waiting.size === 0,
    settled: () => idle.promise,
    isOver: () => over,
    end() {
      over = true;
    },
  };
};

/** Builds a refusal whose stack shows where the store operation was requested, not where its answer was received. */
const refused = (facts: Refused, place: Error): Refused => {
  const error = new Refused(facts);
  const [, ...frames] = (place.stack ?? '').split('\n');
  error.stack = [`Refused: ${error.message}`, ...frames].join('\n');
  return error;
};

export const runs = new AsyncLocalStorage<OpenRun>();

/** Returns the run that the calling code belongs to. */
export const currentRun = (): Run => {
  const run = runs.getStore();
  if (run !== undefined) return run;
  throw new Error('svc_env reaches the world only inside a call, not while a file is imported');
};

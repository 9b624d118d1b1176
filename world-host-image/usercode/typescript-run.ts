/**
 * The run under way in the TypeScript worker: its way to the store, and what can end it before its
 * function returns. `AsyncLocalStorage` ties code to its run, so that what a run left behind cannot
 * act in another's name.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type HeldRows, ask as unknown } from './typescript-held.ts';

type Json = { [field: string]: unknown };

/**
 * The store said no to a read or a write; nothing of it was done. It is thrown where the read or write is, and can be
 * caught there, but for two cases that only the end of the call tells and that fail it then: a removed row that others
 * still refer to, and a missing row of an entity that refers back (itself, or by way of others).
 */
export class Refused extends Error {
  readonly entity: string;
  /** `shape`, `duplicate`, `missing_reference`, `referenced`, `not_found`, `unknown_entity`, `full`. */
  readonly kind: string;
  /** Top-level field at fault, where there is one. */
  readonly field: string | null;
  /** JSON pointer to the value at fault, where there is one. */
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

/** Thrown by `fail`. */
export class Failed extends Error {
  readonly code: string;
  readonly details: Json;

  constructor(message: string, code: string, details: Json) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Thrown by `ctx.fail`: the vendor's own error answer. */
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

/** The world's time as the host gave it, and until when of the machine's it is that; null: as long as the run lasts. */
export type GivenTime = { iso: string; untilMs: number | null };

/** The next numbers of fields as the host gave them, by entity; none of an entity that was written to. */
export type GivenNumbers = Record<string, Record<string, number>>;

const writes: ReadonlySet<string> = new Set(['insert', 'update', 'remove']);

export type Run = {
  /** Uses the store. Rejects with `Refused`. */
  ask(operation: string, given: Json): Promise<unknown>;
  /** The time in the world. */
  now(): Promise<unknown>;
  /** Headers that a handler has set so far; they go with the answer, whatever it is. */
  headers: Record<string, string>;
};

/** A run as the worker holds it. */
export type OpenRun = Run & {
  nonce: string;
  /** Headers of the request that were looked at, where it is to be told. */
  seenHeaders: (() => string[] | 'all') | undefined;
  /** Whether it looked at the time that it was given. */
  isTimed(): boolean;
  /** Whether it used a number that it was given. */
  isNumbered(): boolean;
  /** Gives a question its answer. */
  reply(reply: Reply): void;
  isIdle(): boolean;
  /** Resolves when no question is open. */
  settled(): Promise<void>;
  /** Rejects when code of the run threw where nobody awaited it. */
  strayed: Promise<never>;
  stray(error: unknown): void;
  isOver(): boolean;
  end(): void;
};

/** The machine's time: an author's code may set another function in its place. */
const machineMs = Date.now;

type Waiting = { resolve(value: unknown): void; reject(error: unknown): void; place: Error };

/** Opens a run whose questions go out through `send`, but for those that held rows and what it was given answer. */
export const openRun = (
  { nonce, time, numbers }: { nonce: string; time: GivenTime | null; numbers: GivenNumbers | null },
  send: (message: Json) => void,
  held: Pick<HeldRows, 'read'>,
): OpenRun => {
  const waiting = new Map<number, Waiting>();
  const strays = Promise.withResolvers<never>();
  strays.promise.catch(() => undefined); // The worker looks at it when it is due.
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

  /** The number that a question asks for, where it was given. */
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
    const read = held.read(operation, given);
    return read === unknown ? numberOf(operation, given) : read;
  };

  const checkOpen = (): void => {
    if (over) throw new Error('the call has ended; its world is out of reach');
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
    strayed: strays.promise,
    stray: strays.reject,
    ask(operation, given) {
      checkOpen();
      // Behind a question that is open, a read sees what that one writes.
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

/** A refusal whose stack leads to where the store was asked, not to where the answer was read. */
const refused = (facts: Refused, place: Error): Refused => {
  const error = new Refused(facts);
  const [, ...frames] = (place.stack ?? '').split('\n');
  error.stack = [`Refused: ${error.message}`, ...frames].join('\n');
  return error;
};

export const runs = new AsyncLocalStorage<OpenRun>();

/** The run that the calling code belongs to. */
export const currentRun = (): Run => {
  const run = runs.getStore();
  if (run !== undefined) return run;
  throw new Error('svc_env reaches the world only inside a call, not while a file is imported');
};

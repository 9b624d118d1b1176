/**
 * Messages between the host and a worker. They are lines of JSON: the worker reads them from its file descriptor 3, and
 * writes them to its descriptor 4. What user code prints therefore never looks like a message to the host. Every
 * message contains the nonce of its exchange. If a line lacks the nonce, it must come from user code, which runs in the
 * worker's process; the host then kills the worker. Leftovers of one run are therefore never mistaken for the answer of
 * the next.
 *
 * The nonce provides order, not secrecy: code in the worker can read it. Runs in one process belong to one session and
 * one world, and have nothing to hide from each other. Work whose result other code must not influence (a grade, a
 * later session) has a process of its own.
 *
 * Messages that begin a run or answer a request may also have a member `rows`; see `withRows`.
 */

import type { CallError } from '#domain/call.ts';
import { isObject } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import { isTooDeep } from '#wire/json-extent.ts';
import type { HandlerRequest, RunRequest, RunResult, VendorAnswer } from '../run.ts';
import { type BoundaryPart, boundaryParts } from './boundary.ts';

/** Next automatic number of each field, by entity. */
export type GivenNumbers = Record<string, Record<string, number>>;

/** Refusal of the store, in the form of the error `Refused` that user code gets. */
export type Refusal = {
  entity: string;
  kind: string;
  detail: string;
  field: string | null;
  pointer: string | null;
};

export type HostMessage =
  | { type: 'load'; nonce: string; directory: string; eager: boolean }
  | {
      type: 'run';
      nonce: string;
      file: string;
      function: string;
      as: RunRequest['as'];
      input: Row | HandlerRequest | null;
      timeoutMs: number;
      /** Name of the handler that runs after `before`; null if none does. */
      next: string | null;
      /** True if the worker must record which headers the code reads. */
      watched: boolean;
      /**
       * World time, and the machine time until which it is valid. Null if the worker must request the time each time
       * that it is used.
       */
      time: { iso: string; untilMs: number | null } | null;
      /**
       * Next automatic numbers of entities. A number is valid until the run writes to its entity. Null if the host
       * sends none.
       */
      numbers: GivenNumbers | null;
    }
  | { type: 'reply'; nonce: string; id: number; value: unknown }
  | { type: 'reply'; nonce: string; id: number; refusal: Refusal };

/**
 * Adds the updates of the worker's row cache (`rows/row-cache.ts`) to a message, as the text of `{drop: [entity],
 * changed: {entity: list}, hold: {entity: {key, columns, rows: list}}}`, in this order. A list alternates positions and
 * rows; the row is null if it was deleted.
 */
export const withRows = (line: string, rows: string | undefined): string =>
  rows === undefined ? line : `${line.slice(0, -1)},"rows":${rows}}`;

export type WorkerMessage =
  /** Sent once, with the nonce '', before any user code is read. */
  | { type: 'ready'; nonce: string }
  /** Sent with the nonce '' before `ready`, if the worker's sandbox lacks parts. */
  | { type: 'open'; nonce: string; missing: BoundaryPart[] }
  /** Sent when the code is loaded. `failures` lists the files that could not be imported, each with the reason. */
  | { type: 'loaded'; nonce: string; failures: string[] }
  /** Request for a store operation; the host answers with a `reply` that has the same id. */
  | {
      type: 'ask';
      nonce: string;
      id: number;
      operation: string;
      arguments: Row;
      /**
       * True if the arguments are nested deeper than `limits.bodyLevels`. Everything that is later written about the
       * operation has this limit.
       */
      isTooDeep: boolean;
      /** True if the worker could not apply the last updates of its row cache. The cache is empty then. */
      hasLost: boolean;
    }
  /**
   * `leftRunning`: a thread or a timer of the run is still active, and would disturb the next run. `reads`: entities
   * that the run read from cached rows. `headers`: request headers that the run read, if they had to be recorded.
   * `timed`, `numbered`: the run used the time, or a number, that was sent with it.
   */
  | {
      /**
       * `next` means that `before` has this result, and that the handler begins. The worker does not wait for a reply.
       */
      type: 'done' | 'next';
      nonce: string;
      result: RunResult;
      leftRunning: boolean;
      reads: string[];
      headers: readonly string[] | 'all';
      timed: boolean;
      numbered: boolean;
    };

const isHeaders = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');

const isStatus = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599;

const readVendor = (value: unknown): VendorAnswer | undefined => {
  if (!isObject(value) || !isStatus(value.status)) return undefined;
  const { status, body = null, headers } = value;
  return { status, body, ...(isHeaders(headers) ? { headers } : {}) };
};

const readError = (value: unknown): CallError | undefined => {
  if (!isObject(value)) return undefined;
  const { code, message, details } = value;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { code, message, ...(details === undefined ? {} : { details }) };
};

const readResult = (value: unknown): RunResult | undefined => {
  if (!isObject(value)) return undefined;
  const headers = isHeaders(value.headers) ? { headers: value.headers } : {};
  if (value.ok === true) {
    const { status, isFile } = value;
    return {
      ok: true,
      value: value.value ?? null,
      ...(isStatus(status) ? { status } : {}),
      ...(isFile === true ? { isFile } : {}),
      ...headers,
    };
  }
  const error = readError(value.error);
  const vendor = readVendor(value.vendor);
  if (error === undefined) return undefined;
  return { ok: false, error, ...(vendor === undefined ? {} : { vendor }), ...headers };
};

/**
 * End of a message about something that is nested deeper than bodies of the API may be. At such depth, much code would
 * overflow its stack.
 */
export const tooDeep = `nests deeper than ${limits.bodyLevels} levels`;

const tooDeepResult: RunResult = {
  ok: false,
  error: { code: 'invalid_output', message: `the answer of the code ${tooDeep}` },
};

const readNames = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

/**
 * Limits for the names of headers that a worker reports. If a report exceeds them, or is invalid, all headers count as
 * read.
 */
const mostHeaders = 100;
const longestHeader = 256;

const isHeaderName = (name: unknown): boolean =>
  typeof name === 'string' && name.length <= longestHeader;

const readHeaders = (value: unknown): readonly string[] | 'all' =>
  Array.isArray(value) && value.length <= mostHeaders && value.every(isHeaderName) ? value : 'all';

/** Maximum number of import failures in a message; it is above the number of files that are imported at once. */
const mostFailures = 10;

const parseObject = (line: string): Row | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Parses a worker's line; returns undefined if it is not a message. */
export const parseWorkerMessage = (line: string): WorkerMessage | undefined => {
  const message = parseObject(line);
  if (message === undefined || typeof message.nonce !== 'string') return undefined;
  const { type, nonce, id, operation, arguments: given, result } = message;
  const isDeep = isTooDeep(line, limits.bodyLevels);
  switch (type) {
    case 'ready':
      return { type, nonce };
    case 'loaded': {
      const { failures } = message;
      if (!Array.isArray(failures)) return undefined;
      return { type, nonce, failures: failures.slice(0, mostFailures).map(String) };
    }
    case 'open': {
      const { missing } = message;
      if (!Array.isArray(missing)) return undefined;
      return { type, nonce, missing: missing.filter((part) => Object.hasOwn(boundaryParts, part)) };
    }
    case 'ask':
      if (!Number.isInteger(id) || typeof operation !== 'string' || !isObject(given)) return;
      return {
        type,
        nonce,
        id: Number(id),
        operation,
        arguments: given,
        isTooDeep: isDeep,
        hasLost: message.lost === true,
      };
    case 'done':
    case 'next': {
      const read = isDeep ? tooDeepResult : readResult(result);
      const leftRunning = message.leftRunning === true;
      if (read === undefined) return undefined;
      const [reads, headers] = [readNames(message.reads), readHeaders(message.headers)];
      const [timed, numbered] = [message.timed === true, message.numbered === true];
      return { type, nonce, result: read, leftRunning, reads, headers, timed, numbered };
    }
    default:
      return undefined;
  }
};

/**
 * What the host and a worker say to each other: JSON lines, to the worker on its descriptor 3, from it
 * on descriptor 4, so that nothing user code prints is ever read as a message. Every message carries
 * the nonce of the exchange it belongs to. A line that does not is the work of user code, which shares
 * the worker's process, and costs the worker its life: so what a run left behind is not taken for the
 * answer of the next. It is order and no secret: code in the worker can read it. Runs that live in one
 * process are those of one session and one world, which have nothing to hide from each other; what
 * must not be answered by another's code (a grade, a later session) has a process of its own.
 *
 * The messages that begin a run and answer an ask may have a member `rows` beside these, see `withRows`.
 */

import type { CallError } from '#domain/call.ts';
import { isObject } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import type { Row } from '#language/contract.ts';
import { isTooDeep } from '#wire/json-extent.ts';
import { type BoundaryPart, boundaryParts } from './boundary.ts';
import type { GivenNumbers } from './numbers-ahead.ts';
import type { HandlerRequest, RunRequest, RunResult, VendorAnswer } from './run.ts';

/** What the store said no to, as user code's `Refused` carries it. */
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
      /** The handler that follows `before`; null for none. */
      next: string | null;
      /** Whether the headers that it looks at are to be noted. */
      watched: boolean;
      /** The world's time, and until when of the machine's it is that; null where it is to be asked for. */
      time: { iso: string; untilMs: number | null } | null;
      /** What the next numbers are until it writes to their entities; null for none. */
      numbers: GivenNumbers | null;
    }
  | { type: 'reply'; nonce: string; id: number; value: unknown }
  | { type: 'reply'; nonce: string; id: number; refusal: Refusal };

/**
 * A message with what its worker has to hear of the rows that it holds (`held-rows.ts`), as the text of
 * `{drop: [entity], changed: {entity: list}, hold: {entity: {key, columns, rows: list}}}`, in this order. A
 * list is position, row, position, row; null for a row that is gone.
 */
export const withRows = (line: string, rows: string | undefined): string =>
  rows === undefined ? line : `${line.slice(0, -1)},"rows":${rows}}`;

export type WorkerMessage =
  /** Sent once, with the nonce '', before any user code is read. */
  | { type: 'ready'; nonce: string }
  /** Sent before that by one that has not all of the boundary, with the nonce ''. */
  | { type: 'open'; nonce: string; missing: BoundaryPart[] }
  /** `failures`: of each file that could not be imported, which one and why. */
  | { type: 'loaded'; nonce: string; failures: string[] }
  /** A use of the store; it is answered by `reply` with the same id. */
  | {
      type: 'ask';
      nonce: string;
      id: number;
      operation: string;
      arguments: Row;
      /** It nests deeper than what is written of it later may. */
      isTooDeep: boolean;
      /** The worker could not take in what it was told of held rows, and holds nothing any more. */
      hasLost: boolean;
    }
  /**
   * `leftRunning`: a thread or a timer of the run goes on, and would be in the way of the next one.
   * `reads`: entities that it read from held rows. `headers`: those of the request that it looked at, where
   * it was watched. `timed`, `numbered`: it used the time, or a number, that it was given.
   */
  | {
      /** `next`: `before` came to this, and the handler that follows it begins; no reply is awaited. */
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

/** What a message says that nests deeper than bodies of the API may; so deep, much code would overflow. */
export const tooDeep = `nests deeper than ${limits.bodyLevels} levels`;

const tooDeepResult: RunResult = {
  ok: false,
  error: { code: 'invalid_output', message: `what the code answers ${tooDeep}` },
};

const readNames = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

/** What cannot be read may be any. */
/** More names, or longer ones, than a request has headers: code that says so has seen them all. */
const mostHeaders = 100;
const longestHeader = 256;

const isHeaderName = (name: unknown): boolean =>
  typeof name === 'string' && name.length <= longestHeader;

const readHeaders = (value: unknown): readonly string[] | 'all' =>
  Array.isArray(value) && value.length <= mostHeaders && value.every(isHeaderName) ? value : 'all';

/** More than there are files that are imported at once. */
const mostFailures = 10;

const parseObject = (line: string): Row | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The message in a line, or undefined when the line is none. */
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

/**
 * TypeScript worker, a program of its own that Node runs unbundled. It handles one request of the world host after the
 * other, over the file descriptors 3 and 4, until the host ends.
 *
 * Its name ends with `.mts` because the permission model hides package.json from it. With `.ts`, Node would first try
 * to load the file as CommonJS, and strip its types twice at each start.
 */
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createLineReader } from '../boundary/lines.ts';
import {
  Answered,
  Failed,
  type GivenNumbers,
  type GivenTime,
  type OpenRun,
  openRun,
  Refused,
  type Reply,
  runs,
} from './current-run.ts';
import { jsonText } from './json-text.ts';
import { createLoader, Unavailable, type UserFunction } from './loader.ts';
import { type CacheUpdates, createRowCache } from './row-cache.ts';
import { watchHeaders } from './seen-headers.ts';
import { type HandlerRequest, handlerContext, verifyContext } from './svc-env.ts';
import { activeNames, countTimers } from './timers.ts';
import { describe, summarize } from './trace.ts';

type Json = { [field: string]: unknown };
type RunMessage = {
  nonce: string;
  file: string;
  function: string;
  as: 'tool' | 'handler' | 'before' | 'verify' | 'tests';
  input: Json;
  next: string | null;
  watched: boolean;
  time: GivenTime | null;
  numbers: GivenNumbers | null;
};
type HostMessage =
  | { type: 'load'; nonce: string; directory: string; eager: boolean }
  | ({ type: 'run'; rows?: CacheUpdates } & RunMessage)
  | ({ type: 'reply'; rows?: CacheUpdates } & Reply);

const { messageBytes } = JSON.parse(process.argv[2] ?? '{}') as { messageBytes: number };
process.argv.length = 1;
Error.stackTraceLimit = 50;

const fromHost = new Socket({ fd: 3, readable: true, writable: false });
const toHost = new Socket({ fd: 4, readable: false, writable: true });
const loader = createLoader();
const rowCache = createRowCache();
let current: OpenRun | undefined;
/**
 * True while tests run. Node's test runner finishes when the event loop is empty, so during tests the host's socket
 * keeps the process alive only while a request is pending.
 */
let isTesting = false;

/**
 * Function that ends this process. User code gets a replacement that throws: ending the process is a mistake, which is
 * reported with the line that made it.
 */
const end = process.exit.bind(process);
process.exit = (status) => {
  throw new Error(
    `process.exit(${status ?? ''}): code cannot end its process; return, throw or call fail`,
  );
};

/** Sends a message. Throws `RangeError` if the message exceeds the limit, and `TypeError` if a value is not JSON. */
const send = (message: Json): void => {
  const line = jsonText(message);
  const mebibytes = Buffer.byteLength(line) / 1024 / 1024;
  const limit = messageBytes / 1024 / 1024;
  if (mebibytes > limit) {
    throw new RangeError(`${mebibytes.toFixed(1)} MiB of JSON; the limit is ${limit} MiB`);
  }
  if (isTesting && message.type === 'ask') fromHost.ref();
  toHost.write(`${line}\n`);
};

const headersOf = (headers: Record<string, string>): Json =>
  Object.keys(headers).length > 0 ? { headers } : {};

/**
 * Returns the request for the handler. If the host needs to know which headers the handler reads, the request's headers
 * record that.
 */
const requestOf = (run: OpenRun, { input, watched }: RunMessage): HandlerRequest => {
  const request = input as HandlerRequest;
  if (!watched) return request;
  const { headers, seen } = watchHeaders(request.headers);
  run.seenHeaders = seen;
  return { ...request, headers };
};

const call = async (fn: UserFunction, run: OpenRun, message: RunMessage): Promise<Json> => {
  const { as, input } = message;
  if (as === 'tool') return { ok: true, value: await fn(input) };
  if (as === 'handler' || as === 'before') {
    // Changes that `before` makes to its request must not reach the handler after it.
    const own = message.next === null ? message : { ...message, input: structuredClone(input) };
    const { context, answer } = handlerContext(run, requestOf(run, own));
    const value = await fn(context);
    const given = answer.given ?? { value: as === 'before' ? null : value };
    const headers = { ...run.headers, ...answer.given?.headers };
    return { ok: true, ...given, ...headersOf(headers) };
  }
  const { context, checks } = verifyContext(run);
  await fn(context);
  if (checks.length > 0) return { ok: true, value: { checks } };
  throw new Failed('the grader made no check: call ctx.check at least once', 'failed', {});
};

const failure = (code: string, message: string, details?: unknown): Json => ({
  ok: false,
  error: { code, message, details },
});

/**
 * Returns true if the system refused memory for a buffer or for WebAssembly. (If the heap is full, the process ends
 * instead.)
 */
const isOutOfMemory = (error: unknown): boolean =>
  error instanceof RangeError && /allocation failed|to allocate|not allocate/i.test(error.message);

const failureOf = (error: unknown): Json => {
  const root = loader.root();
  if (error instanceof Unavailable) return failure(error.code, error.message, error.details);
  if (error instanceof Answered) {
    const { status, body, headers } = error;
    return { ...failure('failed', error.message), vendor: { status, body, headers } };
  }
  if (error instanceof Failed) {
    const hasDetails = Object.keys(error.details).length > 0;
    return failure(error.code, error.message, hasDetails ? error.details : undefined);
  }
  const { message, ...facts } = describe(error, root);
  if (error instanceof Refused) {
    const { entity, kind, field, pointer, detail } = error;
    return failure('refused', message, {
      entity,
      kind,
      field,
      pointer,
      detail,
      trace: facts.trace,
    });
  }
  const summary = summarize({ message, ...facts });
  return isOutOfMemory(error)
    ? failure('out_of_memory', `it ran out of memory: ${summary}`, facts)
    : failure('raised', summary, facts);
};

const test = async (
  runTests: (root: string, input: Json) => Promise<Json>,
  input: Json,
): Promise<Json> => {
  isTesting = true;
  try {
    return { ok: true, value: await runTests(loader.root(), input) };
  } finally {
    isTesting = false;
    fromHost.ref();
  }
};

/**
 * Returns the result of a function, once all store operations that it began have settled and their failures are
 * handled.
 */
const outcomeOf = async (run: OpenRun, message: RunMessage): Promise<Json> => {
  const body = async (): Promise<Json> => {
    if (message.as === 'tests') {
      const { runTests } = await import('./test-runner.ts');
      return runs.run(run, () => test(runTests, message.input));
    }
    const fn = await loader.find(message.file, message.function, message.as === 'verify');
    return runs.run(run, () => call(fn, run, message));
  };
  try {
    const result = await Promise.race([body(), run.unawaited]);
    if (!run.isIdle()) {
      await run.settled();
      await setImmediate(); // Node reports unhandled rejections only now.
      await Promise.race([run.unawaited, Promise.resolve()]);
    }
    return result;
  } catch (error) {
    return { ...failureOf(error), ...headersOf(run.headers) };
  }
};

/** Waits until all output has been sent to the host, so that the host counts it for this run. */
const printed = async (): Promise<void> => {
  const drained = (stream: NodeJS.WriteStream): Promise<void> =>
    new Promise((resolve) => stream.write('', () => resolve()));
  await Promise.all([process.stdout, process.stderr].map(drained));
};

/** Pattern of headers that are certainly valid. */
const plainHeader = /^[a-z0-9-]+:[ -~]*$/;

/**
 * Returns true if `before` gave no answer, so that the handler may run. If a header may be invalid, returns false,
 * because the host has to check it.
 */
const letsPass = ({ ok, status, headers = {} }: Json): boolean =>
  ok === true &&
  status === undefined &&
  Object.entries(headers as Json).every(([name, value]) => plainHeader.test(`${name}:${value}`));

const serve = async (message: RunMessage): Promise<void> => {
  const run = openRun(message, send, rowCache);
  const timersBefore = countTimers(activeNames());
  current = run;
  const result = await outcomeOf(run, message);
  run.end();
  current = undefined;
  const active = activeNames();
  const leftRunning = countTimers(active) > timersBefore;
  if (active.some((name) => name.endsWith('WriteWrap'))) await printed();
  const facts = {
    leftRunning,
    reads: rowCache.takeReads(),
    headers: run.seenHeaders?.(),
    timed: run.isTimed(),
    numbered: run.isNumbered(),
  };
  const { next } = message;
  const goesOn = next !== null && !leftRunning && letsPass(result);
  try {
    send({ type: goesOn ? 'next' : 'done', nonce: run.nonce, result, ...facts });
    if (goesOn) await serve({ ...message, as: 'handler', function: next, next: null });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const about = `the answer of ${message.function}`;
    const instead =
      error instanceof RangeError
        ? failure('too_large', `${about} is ${why}`)
        : failure('raised', `${about} is not JSON: ${why}`, { trace: [] });
    send({ type: 'done', nonce: run.nonce, result: instead, ...facts });
  }
};

const load = async (message: Extract<HostMessage, { type: 'load' }>): Promise<void> => {
  const failures = await loader.open(message.directory, message.eager);
  send({ type: 'loaded', nonce: message.nonce, failures });
};

/**
 * Applies updates to the row cache. If that fails, ends the process, because a partly updated cache would return wrong
 * rows.
 */
const updateCache = (updates: CacheUpdates): void => {
  try {
    rowCache.apply(updates);
  } catch (error) {
    console.error(error);
    end(1);
  }
};

const onLine = (line: string): void => {
  const message = JSON.parse(line) as HostMessage;
  if (message.type !== 'load' && message.rows !== undefined) updateCache(message.rows);
  if (message.type === 'reply') {
    current?.reply(message);
    if (isTesting && current?.isIdle()) fromHost.unref();
  } else void (message.type === 'load' ? load(message) : serve(message));
};

/** Assigns an error that no code awaited to the run whose code threw it, if that run is still active. */
const onUnawaited = (error: unknown): void => {
  const run = runs.getStore();
  if (run === undefined || run.isOver()) console.error('not awaited:', error);
  else run.failUnawaited(error);
};

process.on('unhandledRejection', onUnawaited);
process.on('uncaughtException', onUnawaited);
fromHost.on('data', createLineReader({ maxBytes: Number.POSITIVE_INFINITY, onLine }));
fromHost.on('close', () => end(0));
toHost.on('error', () => end(0));
send({ type: 'ready', nonce: '' });

/**
 * A stand-in for the control plane: it serves the host API from memory, with one host and no database. A test of a
 * world host can use it alone, and can make it give answers that a real control plane gives only after failures. The
 * tests in `test/` cover the real control plane.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '#runtime/pause.ts';
import type { Assignment, LoadDirective } from '#wire/host-api/assignment.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';

type Body = Record<string, unknown>;

export type Received = { operation: string; body: Body };

const patterns: [string, string, RegExp][] = [
  ['reportWarm', 'POST', /^\/hosts\/[^/]+\/warm$/],
  ['pollHost', 'POST', /^\/hosts\/[^/]+\/poll$/],
  ['reportUnloaded', 'POST', /^\/hosts\/[^/]+\/unloaded$/],
  ['heartbeat', 'POST', /^\/hosts\/[^/]+\/heartbeat$/],
  ['reportLeaving', 'POST', /^\/hosts\/[^/]+\/leaving$/],
  ['reportReady', 'POST', /^\/world-sessions\/[^/]+\/ready$/],
  ['reportFailed', 'POST', /^\/world-sessions\/[^/]+\/failed$/],
  ['pollCalls', 'GET', /^\/world-sessions\/[^/]+\/calls$/],
  ['answerCall', 'POST', /^\/world-sessions\/[^/]+\/calls\/[^/]+\/answer$/],
  ['deliverRequests', 'POST', /^\/world-sessions\/[^/]+\/requests$/],
  ['consumeEntry', 'POST', /^\/world-sessions\/[^/]+\/entries$/],
  ['reportClosed', 'POST', /^\/world-sessions\/[^/]+\/closed$/],
  ['getBlob', 'GET', /^\/blobs\/.+$/],
];

const readJson = async (request: IncomingMessage): Promise<Body> => {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

const holdMs = 300;
const messageTimeoutMs = 10_000;

const respond = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const eventually = <Value>(what: string, probe: () => Value | undefined): Promise<Value> =>
  until(probe, { timeoutMs: messageTimeoutMs, everyMs: 2, what });

/** Resolves with the probe's first value, or with undefined when the requested hold time is over. */
const holdFor = (probe: () => Body | undefined, holdSeconds: number): Promise<Body> => {
  const endsAt = performance.now() + Math.min(holdSeconds * 1000, holdMs);
  return eventually('the end of a hold', () => {
    return probe() ?? (performance.now() >= endsAt ? {} : undefined);
  });
};

/** Calls of the session, with the state of each. */
class Calls {
  /** Calls that wait for the host. */
  readonly #waiting: HostCall[] = [];
  readonly #handedOut = new Map<string, HostCall>();
  readonly #answers = new Map<string, CallAnswer>();
  #seq = 0;

  /** Queues a call; returns its id. */
  add(kind: HostCall['kind'], name?: string, input?: unknown): string {
    this.#seq += 1;
    const id = `call-${this.#seq}`;
    const call = { id, seq: this.#seq, kind, name: name ?? null, input: input ?? null };
    this.#waiting.push(call);
    return id;
  }

  /** Queues a call once more that was handed out before. */
  repeat(id: string): void {
    const call = this.#handedOut.get(id);
    if (call === undefined) throw new Error(`call ${id} was never handed out`);
    this.#answers.delete(id);
    this.#waiting.push(call);
  }

  /** Hands out the next call. A final poll gets only a call that was handed out before and has no answer yet. */
  next(isFinal: boolean): HostCall | undefined {
    const call = isFinal ? this.#unanswered() : this.#waiting.shift();
    if (call !== undefined) this.#handedOut.set(call.id, call);
    return call;
  }

  answer(id: string, answer: CallAnswer): void {
    this.#answers.set(id, answer);
  }

  answerOf(id: string): CallAnswer | undefined {
    return this.#answers.get(id);
  }

  handedOut(id: string): HostCall | undefined {
    return this.#handedOut.get(id);
  }

  waiting(): string[] {
    return this.#waiting.map(({ id }) => id);
  }

  #unanswered(): HostCall | undefined {
    return [...this.#handedOut.values()].find(({ id }) => !this.#answers.has(id));
  }
}

type Closing = { keepWarm: boolean; next: 'recycle' | 'exit' };

/** The stand-in itself. A test reads the messages that the host sent, and decides what the host does next. */
export class StandInControl {
  /** Tokens of unused links. */
  readonly links = new Set<string>();
  /** Every message in order, without heartbeats. */
  readonly received: Received[] = [];
  readonly #blobs: ReadonlyMap<string, Uint8Array>;
  readonly #servers: Server[] = [];
  readonly #calls = new Calls();
  readonly #muted = new Set<string>();
  readonly #failures = new Map<string, { status: number; times: number }>();
  #port = 0;
  #assignment: Assignment | undefined;
  #toLoad: LoadDirective | undefined;
  #closing: Closing | undefined;
  #isDrained = false;
  #isOlder = true;
  #generation = 0;

  constructor(blobs: ReadonlyMap<string, Uint8Array>) {
    this.#blobs = blobs;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens on another address, on the same port as on the first. */
  async listen(address: string): Promise<void> {
    const server = createServer((request, response) => void this.#handle(request, response));
    server.listen(this.#port, address);
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#servers.push(server);
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  }

  /**
   * Switches to the protocol of this release; before that, the stand-in answers as the previous release did. In the new
   * protocol it holds the answers to reports until the next instruction. A report of a session's end may then
   * contain the last ledger entries, and that the host has recycled.
   */
  beOfThisRelease(): void {
    this.#isOlder = false;
  }

  /** Assigns a session to the host at its next poll. */
  assign(assignment: Assignment): void {
    this.#assignment = assignment;
  }

  /** Makes the host load a version at its next poll. */
  load(order: LoadDirective): void {
    this.#toLoad = order;
    this.#generation = order.generation;
  }

  /** Directs the host to close its session. */
  close(keepWarm: boolean, next: Closing['next']): void {
    this.#closing = { keepWarm, next };
  }

  drain(): void {
    this.#isDrained = true;
  }

  /** Hands a call out and resolves with the host's answer. */
  async call(kind: HostCall['kind'], name?: string, input?: unknown): Promise<CallAnswer> {
    const id = this.enqueue(kind, name, input);
    return eventually(`the answer of ${kind} ${name ?? ''}`, () => this.#calls.answerOf(id));
  }

  /** Queues a call for the host; returns its id. */
  enqueue(kind: HostCall['kind'], name?: string, input?: unknown): string {
    return this.#calls.add(kind, name, input);
  }

  /** Resolves when a call has been handed out. */
  handed(id: string): Promise<unknown> {
    return eventually(`the hand-out of ${id}`, () => this.#calls.handedOut(id));
  }

  /** Returns the calls that wait for the host. */
  waiting(): string[] {
    return this.#calls.waiting();
  }

  /** Hands out the call with this id once more. */
  repeat(id: string): void {
    this.#calls.repeat(id);
  }

  /** Answers this many of the next messages of an operation with this status. */
  fail(operation: string, status: number, times: number): void {
    this.#failures.set(operation, { status, times });
  }

  /** Drops the next answer of an operation that hands out a call, so that it never reaches the host. */
  mute(operation: string): void {
    this.#muted.add(operation);
  }

  /** Resolves with the n-th message of an operation. */
  message(operation: string, n = 1): Promise<Received> {
    return eventually(`message ${n} of ${operation}`, () => {
      return this.received.filter((message) => message.operation === operation)[n - 1];
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://stand-in');
    const path = url.pathname.replace('/api/host', '');
    const [operation = 'unknown'] =
      patterns.find(([, method, test]) => method === request.method && test.test(path)) ?? [];
    const body = await readJson(request);
    const failure = this.#failures.get(operation);
    if (failure !== undefined && failure.times > 0) {
      failure.times -= 1;
      return respond(response, failure.status, { message: 'on purpose' });
    }
    if (operation !== 'heartbeat') this.received.push({ operation, body });
    if (operation === 'getBlob') return this.#sendBlob(path, response);
    const answer = await this.#answerTo(operation, url, body);
    if ('call' in answer && this.#muted.delete(operation)) return;
    respond(response, 200, answer);
  }

  #sendBlob(path: string, response: ServerResponse): void {
    const bytes = this.#blobs.get(decodeURIComponent(path.replace('/blobs/', '')));
    if (bytes === undefined) {
      respond(response, 404, { message: 'no such blob' });
      return;
    }
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    response.end(bytes);
  }

  async #answerTo(operation: string, url: URL, body: Body): Promise<Body> {
    const hold = Number(body.hold ?? url.searchParams.get('hold') ?? 0);
    const isFinal = String(body.final ?? url.searchParams.get('final')) === 'true';
    const nextDirective = () => holdFor(() => this.#directive(isFinal), hold);
    const nextForHost = () => holdFor(() => this.#directiveForHost(), hold);
    switch (operation) {
      case 'reportWarm':
        return { state: 'warm', ...(this.#isOlder ? {} : await nextForHost()) };
      case 'reportReady':
        return this.#isOlder ? {} : nextDirective();
      case 'pollHost':
        return nextForHost();
      case 'consumeEntry':
        return { accepted: this.links.delete(String(body.token)) };
      case 'heartbeat':
        return { drain: this.#isDrained };
      case 'answerCall':
        this.#calls.answer(url.pathname.split('/').at(-2) ?? '', body.answer as CallAnswer);
        return nextDirective();
      case 'pollCalls':
        return nextDirective();
      case 'reportClosed':
        return this.#endSession(body.recycled !== undefined, nextForHost);
      default:
        return {};
    }
  }

  /** Ends the session. A host of this release that has recycled gets its next directive in the answer. */
  async #endSession(hasRecycled: boolean, nextForHost: () => Promise<Body>): Promise<Body> {
    const next = this.#closing?.next;
    this.#closing = undefined;
    this.#generation += 1;
    const generation = this.#generation;
    if (this.#isOlder) return { generation, next };
    if (!hasRecycled || next === 'exit') return { generation, next, taken: true };
    return { generation, next: 'warm', taken: true, ...(await nextForHost()) };
  }

  /** Returns what the host of the session does next: a call, or the session's end. */
  #directive(isFinal: boolean): Body | undefined {
    const call = this.#calls.next(isFinal);
    if (call !== undefined) return { call };
    if (this.#closing === undefined) return undefined;
    const { keepWarm } = this.#closing;
    return { close: { keepWarm, ...(this.#isOlder || !keepWarm ? {} : { together: true }) } };
  }

  /** Returns what a host without a session does next: drain, load a version, or serve a session. */
  #directiveForHost(): Body | undefined {
    if (this.#isDrained) return { drain: true };
    if (this.#toLoad !== undefined) {
      const load = this.#toLoad;
      this.#toLoad = undefined;
      return { load };
    }
    if (this.#assignment === undefined) return undefined;
    const assignment = this.#assignment;
    this.#assignment = undefined;
    this.#generation = assignment.generation;
    return { assignment };
  }
}

/**
 * Starts the stand-in. `blobs` are those that hosts may fetch, by digest; it listens on the same port of each address.
 */
export const startStandInControl = async (
  blobs: ReadonlyMap<string, Uint8Array>,
  addresses: readonly string[] = ['127.0.0.1'],
): Promise<StandInControl> => {
  const control = new StandInControl(blobs);
  for (const address of addresses) await control.listen(address);
  return control;
};

/**
 * A stand-in for the control plane: it serves the host API from memory, with one host and no database. So a world host
 * can be tested by itself, also against answers that a real control plane gives only after failures. The tests in
 * `test/` cover the real one.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '#runtime/pause.ts';
import type { Assignment, LoadDirective } from '#wire/host-api/assignment.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';

export type Received = { operation: string; body: Record<string, unknown> };

export type StandInControl = {
  url: string;
  port: number;
  /** Tokens of unused links. */
  links: Set<string>;
  /** Every message in order, without heartbeats. */
  received: Received[];
  /** Assigns a session to the host at its next poll. */
  assign(assignment: Assignment): void;
  /** Makes the host load a version at its next poll. */
  load(order: LoadDirective): void;
  /** Hands a call out and resolves with the host's answer. */
  call(kind: HostCall['kind'], name?: string, input?: unknown): Promise<CallAnswer>;
  /** Queues a call for the host; returns its id. */
  enqueue(kind: HostCall['kind'], name?: string, input?: unknown): string;
  /** Resolves when a call has been handed out. */
  handed(id: string): Promise<unknown>;
  /** Returns the calls that wait for the host. */
  waiting(): string[];
  /** Hands out the call with this id once more. */
  repeat(id: string): void;
  /** Directs the host to close its session. */
  close(keepWarm: boolean, next: 'recycle' | 'exit'): void;
  drain(): void;
  /** Answers the next so many messages of an operation with this status. */
  fail(operation: string, status: number, times: number): void;
  /**
   * Switches to the protocol of this release. It then holds the answers to reports until the next instruction, and
   * accepts the last ledger entries and the recycling with the report of a session's end. Before that it answers as
   * the previous release did.
   */
  beOfThisRelease(): void;
  /** Drops the next answer of an operation that hands out a call, so that it never reaches the host. */
  mute(operation: string): void;
  /** Resolves with the n-th message of an operation. */
  message(operation: string, n?: number): Promise<Received>;
  stop(): Promise<void>;
};

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

const readJson = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

const holdMs = 300;
const messageTimeoutMs = 10_000;

/**
 * Starts the stand-in. `blobs` are those that hosts may fetch, by digest; it listens on the same port of each address.
 */
export const startStandInControl = async (
  blobs: ReadonlyMap<string, Uint8Array>,
  addresses: readonly string[] = ['127.0.0.1'],
): Promise<StandInControl> => {
  const received: Received[] = [];
  const links = new Set<string>();
  const muted = new Set<string>();
  const failures = new Map<string, { status: number; times: number }>();
  const calls: HostCall[] = [];
  const handedOut = new Map<string, HostCall>();
  const answers = new Map<string, CallAnswer>();
  let assignment: Assignment | undefined;
  let toLoad: LoadDirective | undefined;
  let closing: { keepWarm: boolean; next: 'recycle' | 'exit' } | undefined;
  let drained = false;
  let isOlder = true;
  let seq = 0;
  let generation = 0;

  const unanswered = (): HostCall | undefined =>
    [...handedOut.values()].find(({ id }) => !answers.has(id));

  const directive = (isFinal: boolean): Record<string, unknown> | undefined => {
    const call = isFinal ? unanswered() : calls.shift();
    if (call !== undefined) {
      handedOut.set(call.id, call);
      return { call };
    }
    if (closing === undefined) return undefined;
    const { keepWarm } = closing;
    return { close: { keepWarm, ...(isOlder || !keepWarm ? {} : { together: true }) } };
  };

  const holdFor = async (
    probe: () => Record<string, unknown> | undefined,
    hold: number,
  ): Promise<Record<string, unknown>> => {
    const endsAt = performance.now() + Math.min(hold * 1000, holdMs);
    return until(() => probe() ?? (performance.now() >= endsAt ? {} : undefined), {
      timeoutMs: messageTimeoutMs,
      everyMs: 2,
      what: 'the end of a hold',
    });
  };

  const pollHost = (): Record<string, unknown> | undefined => {
    if (drained) return { drain: true };
    if (toLoad !== undefined) {
      const load = toLoad;
      toLoad = undefined;
      return { load };
    }
    if (assignment === undefined) return undefined;
    const given = assignment;
    assignment = undefined;
    generation = given.generation;
    return { assignment: given };
  };

  const answerTo = async (
    operation: string,
    url: URL,
    body: Record<string, unknown>,
  ): Promise<Record<string, unknown>> => {
    const hold = Number(body.hold ?? url.searchParams.get('hold') ?? 0);
    const isFinal = String(body.final ?? url.searchParams.get('final')) === 'true';
    const next = () => directive(isFinal);
    switch (operation) {
      case 'reportWarm':
        return { state: 'warm', ...(isOlder ? {} : await holdFor(pollHost, hold)) };
      case 'reportReady':
        return isOlder ? {} : holdFor(next, hold);
      case 'pollHost':
        return holdFor(pollHost, hold);
      case 'consumeEntry':
        return { accepted: links.delete(String(body.token)) };
      case 'heartbeat':
        return { drain: drained };
      case 'answerCall': {
        answers.set(url.pathname.split('/').at(-2) ?? '', body.answer as CallAnswer);
        return holdFor(next, hold);
      }
      case 'pollCalls':
        return holdFor(next, hold);
      case 'reportClosed': {
        const next = closing?.next;
        closing = undefined;
        generation += 1;
        if (isOlder) return { generation, next };
        if (body.recycled === undefined || next === 'exit')
          return { generation, next, taken: true };
        const ended = { generation, next: 'warm', taken: true };
        return { ...ended, ...(await holdFor(pollHost, hold)) };
      }
      default:
        return {};
    }
  };

  const respond = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://stand-in');
    const path = url.pathname.replace('/api/host', '');
    const [operation = 'unknown'] =
      patterns.find(([, method, test]) => method === request.method && test.test(path)) ?? [];
    const body = await readJson(request);
    const failure = failures.get(operation);
    if (failure !== undefined && failure.times > 0) {
      failure.times -= 1;
      return respond(response, failure.status, { message: 'on purpose' });
    }
    if (operation !== 'heartbeat') received.push({ operation, body });
    if (operation === 'getBlob') {
      const bytes = blobs.get(decodeURIComponent(path.replace('/blobs/', '')));
      if (bytes === undefined) return respond(response, 404, { message: 'no such blob' });
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.end(bytes);
      return;
    }
    const answer = await answerTo(operation, url, body);
    if ('call' in answer && muted.delete(operation)) return;
    respond(response, 200, answer);
  };

  const servers: Server[] = [];
  let port = 0;
  for (const address of addresses) {
    const server = createServer((request, response) => void handle(request, response));
    server.listen(port, address);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    servers.push(server);
  }

  const enqueue: StandInControl['enqueue'] = (kind, name, input) => {
    seq += 1;
    const id = `call-${seq}`;
    calls.push({ id, seq, kind, name: name ?? null, input: input ?? null });
    return id;
  };

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    links,
    beOfThisRelease() {
      isOlder = false;
    },
    assign(given) {
      assignment = given;
    },
    load(order) {
      toLoad = order;
      generation = order.generation;
    },
    async call(kind, name, input) {
      const id = enqueue(kind, name, input);
      return until(() => answers.get(id), {
        timeoutMs: messageTimeoutMs,
        everyMs: 2,
        what: `the answer of ${kind} ${name ?? ''}`,
      });
    },
    enqueue,
    handed: (id) =>
      until(() => handedOut.get(id), {
        timeoutMs: messageTimeoutMs,
        everyMs: 2,
        what: `the hand-out of ${id}`,
      }),
    waiting: () => calls.map(({ id }) => id),
    repeat(id) {
      const call = handedOut.get(id);
      if (call === undefined) throw new Error(`call ${id} was never handed out`);
      answers.delete(id);
      calls.push(call);
    },
    close(keepWarm, next) {
      closing = { keepWarm, next };
    },
    drain() {
      drained = true;
    },
    fail(operation, status, times) {
      failures.set(operation, { status, times });
    },
    mute: (operation) => muted.add(operation),
    message: (operation, n = 1) =>
      until(() => received.filter((message) => message.operation === operation)[n - 1], {
        timeoutMs: messageTimeoutMs,
        everyMs: 2,
        what: `message ${n} of ${operation}`,
      }),
    async stop() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
        await once(server, 'close');
      }
    },
  };
};

/** A world host that a test simulates: the test sends the host's messages one at a time. */
import { createHash } from 'node:crypto';
import type { Assignment, LoadDirective } from '#wire/host-api/assignment.ts';
import type { SessionDirective } from '#wire/host-api/operations.ts';
import {
  answerCall,
  type CallAnswer,
  deliverRequests,
  getBlob,
  heartbeat,
  pollCalls,
  pollHost,
  reportClosed,
  reportFailed,
  reportReady,
  reportWarm,
} from '#wire/host-api/operations.ts';
import {
  observePool,
  registerHost,
  reportGone,
  reportLaunched,
} from '#wire/pool-api/operations.ts';
import { closeSession } from '#wire/public-api/operations.ts';
import type { Send, TestControl } from './control.ts';

export const installation = 'test';

/** Default state digest in the reports of a simulated host. */
export const baseState = `sha256:${'0'.repeat(64)}` as const;

export type PlayedHost = {
  id: string;
  token: string;
  send: Send;
  /** Generation that the host knows of itself. */
  generation: number;
  /** Assignment that the host serves. */
  assignment: Assignment | undefined;
  /**
   * Reports that the host is warm. `found` lists remains of its session other than rows, as a host that holds a version
   * reports them.
   */
  warm(
    holding?: { bundle: `sha256:${string}`; stateDigest: `sha256:${string}` },
    found?: string[],
  ): Promise<string>;
  /** Polls for an assignment; returns undefined when there was none in time. */
  poll(hold?: number): Promise<Assignment | undefined>;
  /** Polls for a version to load ahead; returns undefined when there was none in time. */
  pollLoad(hold?: number): Promise<LoadDirective | undefined>;
  ready(stateDigest?: `sha256:${string}`): Promise<SessionDirective>;
  failed(code: string, message: string): Promise<void>;
  /** Polls for calls; with `final`, the poll is one of a host that is stopping. */
  calls(hold?: number, final?: boolean): Promise<SessionDirective>;
  /** Delivers entries of its session's ledger. */
  requests(entries: readonly unknown[]): Promise<void>;
  answer(
    callId: string,
    answer: Partial<CallAnswer>,
    hold?: number,
    final?: boolean,
  ): Promise<SessionDirective>;
  closed(): Promise<'recycle' | 'exit' | 'warm'>;
  beat(idleMs?: number): Promise<{ drain: boolean; address?: string }>;
  blob(digest: `sha256:${string}`): Promise<Uint8Array>;
};

/** Returns the address that a simulated host reports; no program listens there. */
export const playedAddress = (hostId: string): string =>
  `http://127.0.0.1:${1 + (createHash('sha256').update(hostId).digest().readUInt16BE() % 65_535)}`;

/** Simulates an existing host. */
export const play = (hostId: string, token: string, send: Send): PlayedHost => {
  const session = () => {
    if (host.assignment === undefined) throw new Error(`${hostId} serves no session`);
    return { sessionId: host.assignment.sessionId };
  };
  const host: PlayedHost = {
    id: hostId,
    token,
    send,
    generation: 0,
    assignment: undefined,
    async warm(holding, found = []) {
      const { body } = await send(reportWarm, {
        params: { hostId },
        body: {
          generation: host.generation,
          address: playedAddress(hostId),
          ...(holding === undefined ? {} : { holding, found }),
        },
      });
      return body.state;
    },
    async poll(hold = 5) {
      const { body } = await send(pollHost, {
        params: { hostId },
        body: { generation: host.generation, hold },
      });
      if (body.assignment !== undefined) {
        host.assignment = body.assignment;
        host.generation = body.assignment.generation;
      }
      return body.assignment;
    },
    async pollLoad(hold = 5) {
      const body = { generation: host.generation, hold };
      const { load } = (await send(pollHost, { params: { hostId }, body })).body;
      host.generation = load?.generation ?? host.generation;
      return load;
    },
    async ready(stateDigest = baseState) {
      const bundle = host.assignment?.bundle ?? baseState;
      const { body } = await send(reportReady, {
        params: session(),
        body: { generation: host.generation, holding: { bundle, stateDigest } },
      });
      return body;
    },
    async failed(code, message) {
      await send(reportFailed, {
        params: session(),
        body: { generation: host.generation, code, message },
      });
    },
    async calls(hold = 5, final = false) {
      const query = { generation: host.generation, hold, final };
      return (await send(pollCalls, { params: session(), query })).body;
    },
    async requests(entries) {
      await send(deliverRequests, {
        params: session(),
        body: {
          generation: host.generation,
          entries: entries.map((entry) =>
            typeof entry === 'string' ? entry : JSON.stringify(entry),
          ),
        },
      });
    },
    async answer(callId, answer, hold = 0, final = false) {
      const { body } = await send(answerCall, {
        params: { ...session(), callId },
        body: { generation: host.generation, answer: { changes: {}, ...answer }, hold, final },
      });
      return body;
    },
    async closed() {
      const { body } = await send(reportClosed, {
        params: session(),
        body: { generation: host.generation },
      });
      host.generation = body.generation;
      return body.next;
    },
    async beat(idleMs) {
      const { body } = await send(heartbeat, {
        params: { hostId },
        body: {
          generation: host.generation,
          rssBytes: 1,
          ...(idleMs === undefined ? {} : { idleMs }),
        },
      });
      return body;
    },
    async blob(digest) {
      return (await send(getBlob, { params: { digest } })).body;
    },
  };
  return host;
};

/** Properties of a simulated host: the usual size, for both tiers. */
export const anyHost = {
  installation,
  pool: 'default',
  runtime: 'process',
  addressing: 'loopback',
  tier: null,
  isolation: 'process',
  size: 'standard',
} as const;

/** Registers a host and reports it launched; the host itself has sent nothing yet. */
export const launchHost = async (control: TestControl, maxLive = 1_000): Promise<PlayedHost> => {
  const { body } = await control.pool(registerHost, {
    body: { ...anyHost, maxLive },
  });
  await control.pool(reportLaunched, {
    params: { hostId: body.hostId },
    body: { runtimeId: `run-${body.hostId}` },
  });
  return play(body.hostId, body.token, control.asHost(body.token));
};

/** Returns a warm host that waits for a session. */
export const warmHost = async (control: TestControl): Promise<PlayedHost> => {
  const host = await launchHost(control);
  await host.warm();
  return host;
};

/** Returns the same host, connected to another replica. */
export const atReplica = (host: PlayedHost, control: TestControl): PlayedHost => {
  const moved = play(host.id, host.token, control.asHost(host.token));
  moved.generation = host.generation;
  moved.assignment = host.assignment;
  return moved;
};

/** Closes every open session and removes every host, so that the next test begins with none. */
export const clearPool = async (control: TestControl): Promise<void> => {
  const open = await control.sql<{ id: string }>(
    `select id from sessions where state not in ('CLOSED', 'FAILED')`,
  );
  for (const { id } of open) {
    await control.send(closeSession, { params: { sessionId: id }, body: {} });
  }
  const { body } = await control.pool(observePool, { query: { installation } });
  for (const { id } of body.hosts) {
    await control.pool(reportGone, { params: { hostId: id }, body: { reason: 'shutdown' } });
  }
};

/**
 * A browser program as a host of the service: it reports that it is warm, gets a session, serves it to its end, and begins
 * again with a fresh Chromium. The control plane keeps its checkpoints; the session's world host is told what happens
 * (world-link.ts).
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { createContact } from '#hosting/contact.ts';
import { startHeartbeat } from '#hosting/heartbeat.ts';
import { type ControlLink, createControlLink, type HostIdentity, isStale } from '#hosting/link.ts';
import { parseAddress } from '#runtime/listen.ts';
import type { Log } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type { Running } from '#runtime/run.ts';
import { Secret } from '#runtime/secret.ts';
import {
  type BrowserOrder,
  type BrowserOrders,
  browserKeyHeader,
} from '#wire/browser-link/exchange.ts';
import { createClient } from '#wire/client.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import {
  consumeEntry,
  type HostDirective,
  keepCheckpoint,
  pollBrowser,
  pollHost,
  reportBrowserClosed,
  reportBrowserReady,
  reportLeaving,
  reportWarm,
} from '#wire/host-api/operations.ts';
import type { BrowserConfig } from '../config.ts';
import { createSessionAccess, type SessionAccess } from '../door/session-access.ts';
import { createOrigins } from '../fence/origins.ts';
import { directWay, tunnelWay, type Way } from '../fence/way.ts';
import { type BrowserProgram, startBrowserProgram } from '../program.ts';
import type { Checkpoint } from '../watch/checkpoint.ts';
import type { BrowserEvent } from '../watch/events.ts';
import { postToSurface } from './ask-surface.ts';
import type { HostConfig } from './host-config.ts';
import { openWorldLink, type WorldLink } from './world-link.ts';

/** A browser that hears nothing for so long has no session any more. */
const giveUpMs = 10 * 60_000;
const goodbyeMs = 2_000;
const consumeMs = 5_000;
/** A checkpoint that takes longer is given up; the next one comes soon. */
const keepMs = 10_000;
/** How long the last entries of a session may take to be noted. */
const lastEntriesMs = 1_000;
const hold = limits.pollMs / 1_000;
/** A world host takes so much in one report. */
const mostPictureBytes = 700 * 1024;

const tooLarge = (bytes: number): AppError =>
  new AppError(
    'exhausted',
    `the picture has ${bytes} bytes, more than ${mostPictureBytes}; take one of what is in view, or as jpeg`,
  );

/** A checkpoint as it is kept: with how many resets of the session it has seen. */
type Kept = Checkpoint & { resets?: number };

type Agent = {
  host: HostConfig;
  identity: HostIdentity;
  link: ControlLink;
  program: BrowserProgram;
  access: SessionAccess;
  way: Way;
  log: Log;
  stopping: AbortSignal;
  takeToken(token: string): void;
  /** The session that it serves. */
  session: Session | undefined;
};

type Session = {
  assignment: BrowserAssignment;
  world: WorldLink;
  /** Resets of the session that its profile has seen. */
  resets: number;
  /** Checkpoints so far, and the sending of the last. */
  sequence: number;
  keeping: Promise<unknown>;
};

const entryOf = ({ at, kind, ...rest }: BrowserEvent) => {
  const { url, ...detail } = rest as { url?: string };
  const path = url === undefined ? {} : { path: url.slice(0, 2_048) };
  return { at, operation: kind, ...path, detail: detail as Record<string, unknown> };
};

/** Sends the checkpoint; only the last one matters, so one under way is waited for by the next alone. */
const keep = (agent: Agent, session: Session, checkpoint: Checkpoint): void => {
  const { link, log } = agent;
  const { sessionId, generation } = session.assignment;
  session.sequence += 1;
  const { sequence, resets } = session;
  const content = JSON.stringify({ ...checkpoint, resets });
  if (content.length > limits.checkpointChars) {
    session.world.note({
      at: checkpoint.at,
      operation: 'checkpoint_too_large',
      detail: { chars: content.length, most: limits.checkpointChars },
    });
    return;
  }
  const send = async (): Promise<void> => {
    if (session.sequence !== sequence) return;
    const body = { generation, sequence, content };
    const signal = AbortSignal.timeout(keepMs);
    await link.sendOnce(keepCheckpoint, { params: { sessionId }, body }, { signal });
  };
  session.keeping = session.keeping
    .then(send)
    .catch((err: unknown) => log.warn({ err }, 'a checkpoint could not be handed over'));
};

const openWorld = (agent: Agent, assignment: BrowserAssignment, resets: number | undefined) => {
  const { program, way, log } = agent;
  const url = new URL(assignment.link.url);
  const origins = createOrigins();
  origins.set(assignment.reach);
  const to = origins.forRequest(url);
  if (to === undefined) throw new AppError('invalid', `${url.origin} is not of this session`);
  const headers = {
    cookie: assignment.link.cookie,
    [browserKeyHeader]: assignment.link.key,
  };
  const carryOut = async (order: BrowserOrder): Promise<unknown> => {
    const { format, fullPage } = order;
    const picture = await program.screenshot({ format, fullPage });
    if (picture.length > mostPictureBytes) throw tooLarge(picture.length);
    return { format, base64: picture.toString('base64') };
  };
  return openWorldLink({
    generation: assignment.generation,
    resets,
    exchange: async (body, signal) =>
      (await postToSurface(way, { url, to, headers, body, signal })) as BrowserOrders,
    carryOut,
    reset: () => program.reset(),
    onResets(count) {
      if (agent.session?.assignment === assignment) agent.session.resets = count;
    },
    log,
  });
};

/** How long the browser before is waited for to be gone from its address, while this one starts on its page. */
const takeOverMs = 3_000;

/** The former address, where it is one of this machine that can be had; undefined where not. */
const takeOver = async (
  { program, host, log }: Agent,
  { address }: BrowserAssignment,
): Promise<string | undefined> => {
  const place = parseAddress(address?.replace('http://', '') ?? '');
  if (!host.reportAddress || address === undefined || place?.host !== '127.0.0.1') return undefined;
  if (address === program.address) return address;
  const isTaken = () =>
    program.listenToo(place).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === 'unavailable') return false;
        throw error;
      },
    );
  try {
    // One that leaves with notice holds it a moment longer.
    await until(isTaken, { timeoutMs: takeOverMs, everyMs: 50, what: 'the address is free' });
    return address;
  } catch (err) {
    log.info({ err, address }, 'the address of the browser before cannot be had');
    return undefined;
  }
};

const readCheckpoint = (text: string | null): Kept | undefined =>
  text === null ? undefined : (JSON.parse(text) as Kept);

const serve = async (agent: Agent, assignment: BrowserAssignment): Promise<HostDirective> => {
  const { access, identity, link, log, program, stopping: signal } = agent;
  const { sessionId, generation, token, address: clients, lost } = assignment;
  identity.generation = generation;
  identity.sessionId = sessionId;
  const { resets, ...checkpoint } = readCheckpoint(assignment.checkpoint) ?? {};
  const isResumed = 'tabs' in checkpoint;
  const world = openWorld(agent, assignment, isResumed ? (resets ?? 0) : undefined);
  const session: Session = {
    ...{ assignment, world, resets: resets ?? 0, sequence: 0, keeping: Promise.resolve() },
  };
  agent.session = session;
  access.begin({ sessionId, token, scheme: clients?.startsWith('https:') ? 'https' : 'http' });
  if (lost !== null) {
    world.note({ at: new Date().toISOString(), operation: 'reclaimed', detail: { why: lost } });
  }
  try {
    const { entry, cookies, reach } = assignment;
    const taking = takeOver(agent, assignment);
    await program.assign({
      ...{ entry, cookies, reach },
      ...(isResumed ? { checkpoint: checkpoint as Checkpoint } : {}),
    });
    const address = await taking;
    const body = { generation, ...(address === undefined ? {} : { address }) };
    await link.send(reportBrowserReady, { params: { sessionId }, body }, { signal });
    log.info({ isResumed, lost }, 'serving');
    await awaitClose(agent, assignment);
  } finally {
    access.end();
    await world.stop(lastEntriesMs);
    agent.session = undefined;
  }
  return close(agent, assignment);
};

/** Resolves when the session has ended. */
const awaitClose = async (
  { link, stopping: signal }: Agent,
  { sessionId, generation }: BrowserAssignment,
): Promise<void> => {
  for (;;) {
    const input = { params: { sessionId }, query: { generation, hold } };
    const { close: isClosed } = await link.send(pollBrowser, input, { signal, holdSeconds: hold });
    if (isClosed === true) return;
  }
};

const close = async (
  agent: Agent,
  { sessionId, generation }: BrowserAssignment,
): Promise<HostDirective> => {
  const { identity, link, log, program, stopping: signal } = agent;
  await Promise.all([program.end(), program.leaveOthers()]);
  const input = { params: { sessionId }, body: { generation } };
  const closed = await link.send(reportBrowserClosed, input, { signal });
  identity.generation = closed.generation;
  log.info({ next: closed.next }, 'closed');
  identity.sessionId = undefined;
  return closed.next === 'exit' ? { drain: true } : tellWarm(agent, { hold });
};

const tellWarm = async (agent: Agent, wait: { hold?: number }): Promise<HostDirective> => {
  const { host, identity, link, program, stopping: signal, takeToken } = agent;
  const { hostId, generation } = identity;
  const first = host.reportAddress ? { address: program.address } : {};
  const body = { generation, ...(wait.hold === undefined ? { renews: true, ...first } : wait) };
  const options = { signal, ...(wait.hold === undefined ? {} : { holdSeconds: wait.hold }) };
  const { token, ...directive } = await link.send(
    reportWarm,
    { params: { hostId }, body },
    options,
  );
  if (token !== undefined) takeToken(token);
  return directive;
};

const poll = ({ identity, link, stopping: signal }: Agent): Promise<HostDirective> => {
  const { hostId, generation } = identity;
  const input = { params: { hostId }, body: { generation, hold } };
  return link.send(pollHost, input, { signal, holdSeconds: hold });
};

const run = async (agent: Agent): Promise<void> => {
  let next = await tellWarm(agent, {});
  agent.log.info({ sinceStartMs: performance.now() }, 'warm');
  while (next.drain !== true && !agent.stopping.aborted) {
    next = next.browser === undefined ? await poll(agent) : await serve(agent, next.browser);
  }
};

/** Says that this browser is taken away, once what its session goes on from is kept. */
const sayGoodbye = async ({ identity, link, log, program, session }: Agent): Promise<void> => {
  const { hostId, generation } = identity;
  await program.leave();
  await session?.keeping;
  const signal = AbortSignal.timeout(goodbyeMs);
  try {
    await link.sendOnce(reportLeaving, { params: { hostId }, body: { generation } }, { signal });
  } catch (err) {
    log.warn({ err }, 'nobody heard that this browser goes');
  }
};

export type AgentParts = {
  config: BrowserConfig;
  host: HostConfig;
  token: Secret;
  identity: HostIdentity;
  log: Log;
};

/** Starts a browser as a host; it ends by itself when the control plane has no more use for it. */
export const startAgent = async ({
  config,
  host,
  token,
  identity,
  log,
}: AgentParts): Promise<Running> => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let bearer = token;
  const client = createClient({
    baseUrl: `${host.controlUrl}/api/host`,
    authorization: () => `Bearer ${bearer.reveal()}`,
  });
  const link = createControlLink({ client, log, giveUpMs });
  const access = createSessionAccess({
    async consumeLink(sessionId, given) {
      const body = { generation: identity.generation, surface: 'browser', token: given } as const;
      const input = { params: { sessionId }, body };
      const soon = { signal: AbortSignal.timeout(consumeMs) };
      const { accepted, opens = 'all' } = await link.sendOnce(consumeEntry, input, soon);
      return accepted ? opens : undefined;
    },
    log,
  });
  const way =
    host.way === 'direct'
      ? directWay
      : tunnelWay({ controlUrl: host.controlUrl, token: () => bearer.reveal() });
  let agent: Agent | undefined; // what a browser does before it is warm is told to nobody
  const program = await startBrowserProgram({
    ...{ config, way, access, log },
    onEvent: (event) => agent?.session?.world.note(entryOf(event)),
    onCheckpoint: (checkpoint) => {
      if (agent?.session !== undefined) keep(agent, agent.session, checkpoint);
    },
  });
  const begun: Agent = {
    ...{ host, identity, link, program, access, way, log, stopping: signal, session: undefined },
    takeToken(given) {
      bearer = new Secret(given);
    },
  };
  agent = begun;
  let busyAt = performance.now();
  const idleMs = (): number | undefined => {
    if (program.status().connections > 0) busyAt = performance.now();
    return begun.session === undefined ? undefined : performance.now() - busyAt;
  };
  const beat = startHeartbeat({
    ...{ identity, link, log, contact: createContact() },
    serving: { idleMs, moveTo: () => undefined },
    onEnd(reason) {
      log.info({ reason }, 'told to stop');
      stopping.abort();
    },
  });
  let hasEnded = false;
  const ended = run(begun)
    .catch((error: unknown) => {
      if (signal.aborted) return;
      if (!isStale(error)) throw error;
      log.info({ reason: error.message }, 'this browser is of no use any more');
    })
    .finally(() => {
      hasEnded = true;
    });
  const settled = ended.catch(() => undefined);
  return {
    ended,
    async stop() {
      const isTaken = !hasEnded && !signal.aborted;
      if (isTaken) await sayGoodbye(begun);
      stopping.abort();
      await settled;
      await Promise.all([beat.stop(), program.stop()]);
    },
  };
};

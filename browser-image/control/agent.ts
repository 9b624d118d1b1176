/**
 * Runs the browser program as a host of the service. It reports that it is warm, gets a session, serves it to its end
 * (serve.ts), and begins again with a fresh Chromium. The control plane keeps its checkpoints and its recording; the
 * session's world host receives its events (world-link.ts).
 */
import { limits } from '#domain/limits.ts';
import { createContact } from '#hosting/contact.ts';
import { startHeartbeat } from '#hosting/heartbeat.ts';
import { watchLife } from '#hosting/host-life.ts';
import { type ControlLink, createControlLink, type HostIdentity } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import type { Running } from '#runtime/run.ts';
import { Secret } from '#runtime/secret.ts';
import { createClient } from '#wire/client.ts';
import {
  consumeEntry,
  type HostDirective,
  pollHost,
  reportLeaving,
  reportWarm,
} from '#wire/host-api/operations.ts';
import type { BrowserConfig } from '../config.ts';
import { createSessionAccess, type SessionAccess } from '../listener/session-access.ts';
import { directRoute, tunnelRoute } from '../policy/route.ts';
import { startBrowserProgram } from '../program.ts';
import { keep } from './checkpoints.ts';
import type { HostConfig } from './host-config.ts';
import { serve } from './serve.ts';
import type { Agent } from './state.ts';
import { entryOf } from './world.ts';

/** Time without contact to the control plane after which the browser considers its session lost, in milliseconds. */
const giveUpMs = 10 * 60_000;
const noticeMs = 2_000;
const consumeMs = 5_000;
/**
 * Time limit for the last parts of a recording when the machine is taken away, in milliseconds; little time is left
 * then.
 */
const lastPartsMs = 2_000;
const hold = limits.pollMs / 1_000;

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

const exit: HostDirective = { drain: true };

const run = async (agent: Agent): Promise<void> => {
  let next = await tellWarm(agent, {});
  agent.log.info({ sinceStartMs: performance.now() }, 'warm');
  while (next.drain !== true && !agent.stopping.aborted) {
    if (next.browser === undefined) next = await poll(agent);
    else next = (await serve(agent, next.browser)) ? await tellWarm(agent, { hold }) : exit;
  }
};

/**
 * Reports that this browser is being taken away, after the checkpoint and the recording that its session resumes from
 * are stored.
 */
const leaveWithNotice = async ({ identity, link, log, program, session }: Agent): Promise<void> => {
  const { hostId, generation } = identity;
  await program.leave();
  await Promise.all([session?.keeping, session?.recording?.stop(lastPartsMs)]);
  const signal = AbortSignal.timeout(noticeMs);
  try {
    await link.sendOnce(reportLeaving, { params: { hostId }, body: { generation } }, { signal });
  } catch (err) {
    log.warn({ err }, 'the control plane did not get the report that this browser stops');
  }
};

export type AgentParts = {
  config: BrowserConfig;
  host: HostConfig;
  token: Secret;
  identity: HostIdentity;
  log: Log;
};

const openLink = ({ controlUrl }: HostConfig, log: Log, authorization: () => string) =>
  createControlLink({
    client: createClient({ baseUrl: `${controlUrl}/api/host`, authorization }),
    log,
    giveUpMs,
  });

/** Opens access for people and clients; the control plane validates their links. */
const openAccess = (link: ControlLink, identity: HostIdentity, log: Log): SessionAccess =>
  createSessionAccess({
    async consumeLink(sessionId, given) {
      const body = { generation: identity.generation, surface: 'browser', token: given } as const;
      const input = { params: { sessionId }, body };
      const soon = { signal: AbortSignal.timeout(consumeMs) };
      const { accepted, opens = 'all' } = await link.sendOnce(consumeEntry, input, soon);
      return accepted ? opens : undefined;
    },
    log,
  });

/** Starts the heartbeats, which report how long no client or viewer has been connected. */
const startBeat = (agent: Agent, onEnd: (reason: string) => void) => {
  const { identity, link, log, program } = agent;
  let busyAt = performance.now();
  const idleMs = (): number | undefined => {
    if (program.status().connections > 0) busyAt = performance.now();
    return agent.session === undefined ? undefined : performance.now() - busyAt;
  };
  return startHeartbeat({
    ...{ identity, link, log, contact: createContact() },
    serving: { idleMs, moveTo: () => undefined },
    onEnd,
  });
};

/** Starts the browser as a host. It ends by itself when the control plane no longer needs it. */
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
  const link = openLink(host, log, () => `Bearer ${bearer.reveal()}`);
  const access = openAccess(link, identity, log);
  const route =
    host.route === 'direct'
      ? directRoute
      : tunnelRoute({ controlUrl: host.controlUrl, token: () => bearer.reveal() });
  let agent: Agent | undefined; // events before the browser is warm are not reported
  const program = await startBrowserProgram({
    ...{ config, route, access, log },
    onEvent: (event) => agent?.session?.world.note(entryOf(event)),
    onCheckpoint: (checkpoint) => {
      if (agent?.session !== undefined) keep(agent, agent.session, checkpoint);
    },
  });
  const created: Agent = {
    ...{ host, identity, link, program, access, route, log, stopping: signal, session: undefined },
    takeToken(given) {
      bearer = new Secret(given);
    },
  };
  agent = created;
  const beat = startBeat(created, (reason) => {
    log.info({ reason }, 'stopping on request');
    stopping.abort();
  });
  const life = watchLife(
    run(created).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
    log,
  );
  return {
    ended: life.ended,
    async stop() {
      const isTaken = !life.hasEnded() && !signal.aborted;
      if (isTaken) await leaveWithNotice(created);
      stopping.abort();
      await life.settled;
      await Promise.all([beat.stop(), program.stop()]);
    },
  };
};

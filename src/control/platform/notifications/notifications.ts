/**
 * News between requests: a session changed, a call was answered, a host has something to do, the pool
 * looks different. A waiter in this process is woken directly, those in other replicas by
 * LISTEN/NOTIFY. News is only ever a hint to look again: a lost one costs time, because each wait also
 * looks again by itself, and never correctness.
 *
 * Notices leave in batches after the commits that they are about, the first at once and others a few
 * milliseconds later. PostgreSQL takes one lock over the whole server for a commit with a NOTIFY in it,
 * which the commits of calls must not pay. Where no other replica listens they do not leave at all (`peers.ts`).
 */
import { randomBytes } from 'node:crypto';
import type { Log } from '#runtime/log.ts';
import type { Loop } from '#runtime/loop.ts';
import { pause } from '#runtime/pause.ts';
import type { Secret } from '#runtime/secret.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  notificationChannel,
  sendNotifications,
  startListening,
} from '../../db/core/notifications.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import type { CallRow } from '../../db/sessions/calls.ts';
import type { SessionWork } from '../../db/sessions/host-calls.ts';
import type { HostWork } from '../../db/sessions/hosts.ts';
import type { SessionRow } from '../../db/sessions/sessions.ts';
import { lookEveryMs, type Peers, settledMs, watchPeers } from './peers.ts';
import { createRouteFeed, type RouteFeed } from './route-feed.ts';
import { createTopics, type Watch } from './topics.ts';

/** The topic that changes with everything a planner looks at. */
export const poolTopic = 'pool';
/** The topic that changes when a run waits, whichever replica had it wait; that of one run is its id. */
export const runsTopic = 'runs';
/** The topic that changes when a run of a dataset begins or goes on. */
export const datasetRunsTopic = 'dataset-runs';
/** The topic that changes when a delivery waits to be pushed, or a push has ended. */
export const pushesTopic = 'pushes';
/** The topic that changes with the route of any session; heard of by `routeTopic` of that session. */
export const routesTopic = 'routes';
/** The topic that changes when a session has sent webhooks. */
export const deliveriesTopic = (sessionId: string): string => `deliveries:${sessionId}`;
const routeMark = 'route:';
/** Says that a session is served elsewhere, or not at all, now. The other topics are ids themselves. */
export const routeTopic = (sessionId: string): string => `${routeMark}${sessionId}`;

/** What news may bring to those who wait in this process: so that they need not look for it. */
export type Brought = {
  /** A call that has reached its end. */
  call?: CallRow;
  /** A session as it is since the change. */
  session?: SessionRow;
  /** What the session wants of its host since then. */
  work?: HostedWork;
  /** What a host is to do since then. */
  orders?: HostWork | undefined;
};

/** What a session wants of one generation of a host. */
export type HostedWork = SessionWork & { hostId: string; generation: number };

export type Notifications = {
  /** Tells everyone, here and in other replicas. */
  tell(...topics: string[]): void;
  /** Tells that a call has reached its end; here with the call itself. */
  tellCall(call: CallRow): void;
  /** Tells of a session's change, as `tell` does, with further topics; here with what it brings. */
  tellSession(brought: Brought & { session: SessionRow }, ...topics: string[]): void;
  /** Tells a host what it is to do, with further topics; here with what it brings. */
  tellHost(hostId: string, brought: Pick<Brought, 'orders'>, ...topics: string[]): void;
  /** Tells this process alone. */
  ring(topic: string): void;
  watch(topic: string): Watch<Brought>;
  /** The sessions whose routes changed, for gateways. */
  readonly routes: RouteFeed;
  /** True once the program is stopping: whatever waits then answers what it has. */
  readonly closed: boolean;
  /** How many requests wait for news at this moment. */
  readonly held: number;
  /** Ends all waits. Telling others goes on until `stop`. */
  close(): void;
  stop(): Promise<void>;
  /** What listens to the other replicas, and what looks whether there are any. */
  loops: readonly Loop<unknown>[];
};

/** A notice holds less than 8000 bytes; ids are far below 100. */
const topicsPerNotice = 70;
/** Between two batches, in milliseconds. */
const batchRestMs = 5;

const batch = (sender: string, topics: readonly string[]): string[] => {
  const payloads: string[] = [];
  for (let start = 0; start < topics.length; start += topicsPerNotice) {
    payloads.push([sender, ...topics.slice(start, start + topicsPerNotice)].join(' '));
  }
  return payloads;
};

/** Sends topics to the other replicas, those of one round of the event loop and of one send together. */
const createSender = (db: Queryable, sender: string, company: Peers, log: Log) => {
  const pending = new Set<string>();
  let sending: Promise<void> | undefined;

  const sendAll = async (): Promise<void> => {
    while (pending.size > 0) {
      const topics = [...pending];
      pending.clear();
      try {
        await sendNotifications(db, batch(sender, topics));
        await pause(batchRestMs);
      } catch (err) {
        log.warn(
          { err, topics: topics.length },
          'notices were lost; waiters will look by themselves',
        );
      }
    }
    sending = undefined;
  };

  return {
    send(topics: readonly string[]) {
      if (company.isAlone()) return;
      for (const topic of topics) pending.add(topic);
      // The news of all projects leaves together, so it waits for the turn of none.
      sending ??= forNoProject(() => Promise.resolve().then(sendAll));
    },
    async flushed() {
      await sending;
    },
  };
};

/** Starts listening and telling; it looks so often, in milliseconds, whether others listen. */
export const startNotifications = (
  databaseUrl: Secret,
  db: Queryable,
  log: Log,
  everyMs = lookEveryMs,
): Notifications => {
  const bell = createTopics<Brought>();
  const self = randomBytes(6).toString('hex');
  const company = watchPeers(db, log, everyMs);
  const sender = createSender(db, self, company, log);
  const routes = createRouteFeed();
  const ring = (topic: string): void => {
    if (topic.startsWith(routeMark)) routes.note(topic.slice(routeMark.length));
    bell.ring(topic.startsWith(routeMark) ? routesTopic : topic);
  };
  const hear = (payload: string): void => {
    const [from, ...topics] = payload.split(' ');
    if (from === self) return;
    company.heard();
    for (const topic of topics) ring(topic);
  };
  const lookAgain = (): void => {
    routes.breakOff();
    bell.ringAll();
  };
  let settling: NodeJS.Timeout | undefined;
  // Until the others know of this replica, what they tell may not leave them: everybody looks again then, too.
  const afterBreak = (pid: number): void => {
    company.listensAs(pid);
    lookAgain();
    clearTimeout(settling);
    settling = setTimeout(lookAgain, settledMs(everyMs)).unref();
  };
  const listening = startListening({
    databaseUrl,
    channel: notificationChannel,
    greeting: self,
    onNotice: hear,
    onConnected: afterBreak,
    log,
  });
  return {
    tell(...topics) {
      for (const topic of topics) ring(topic);
      sender.send(topics);
    },
    tellCall(call) {
      bell.ring(call.id, { call });
      sender.send([call.id]);
    },
    tellSession(brought, ...topics) {
      const { id } = brought.session;
      bell.ring(id, brought);
      for (const topic of topics) ring(topic);
      sender.send([id, ...topics]);
    },
    tellHost(hostId, brought, ...topics) {
      bell.ring(hostId, brought);
      for (const topic of topics) ring(topic);
      sender.send([hostId, ...topics]);
    },
    ring: (topic) => bell.ring(topic),
    watch: (topic) => bell.watch(topic),
    routes,
    get closed() {
      return bell.closed;
    },
    get held() {
      return bell.waiting;
    },
    loops: [listening, company.loop],
    close: () => bell.close(),
    async stop() {
      bell.close();
      clearTimeout(settling);
      await sender.flushed();
      await Promise.all([listening.stop(), company.loop.stop()]);
    },
  };
};

/**
 * Notifications between requests: a session changed, a call was answered, a host has work, the pool changed. Requests
 * that wait in this process are woken directly, those in other replicas by LISTEN/NOTIFY. A notification only hints
 * that a state should be read again. A lost notification costs time but never correctness, because every waiting
 * request also reads the state at intervals. Notifications are sent in batches after the commits that they report, the
 * first at once and the rest a few milliseconds later. PostgreSQL takes one server-wide lock for a commit that contains
 * a NOTIFY; the commits of calls must not wait for it. If no other replica listens, none are sent (`peers.ts`).
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
import type { SessionRow } from '../../db/sessions/session-row.ts';
import { lookEveryMs, type Peers, settledMs, watchPeers } from './peers.ts';
import { createRouteFeed, type RouteFeed } from './route-feed.ts';
import { createTopics, type Watch } from './topics.ts';

/** Topic for every change that the pool's planner takes into account. */
export const poolTopic = 'pool';
/** Topic for test runs queued in any replica. The topic of a single run is its id. */
export const runsTopic = 'runs';
/** Topic for a dataset run that starts or resumes. */
export const datasetRunsTopic = 'dataset-runs';
/** Topic for webhook deliveries that are queued for sending, and for attempts that have ended. */
export const pushesTopic = 'pushes';
/** Topic for changed routes of any session. It is notified through the `routeTopic` of the session. */
export const routesTopic = 'routes';
/** Returns the topic for webhooks that this session sends. */
export const deliveriesTopic = (sessionId: string): string => `deliveries:${sessionId}`;
const routeMark = 'route:';
/**
 * Returns the topic for this session's route: notified when the route changes or is removed. The topic of most other
 * objects is their id.
 */
export const routeTopic = (sessionId: string): string => `${routeMark}${sessionId}`;

/** Values that a notification carries to waiting requests in this process, which saves them a query. */
export type NotifiedValues = {
  /** Call that has ended. */
  call?: CallRow;
  /** Session after its change. */
  session?: SessionRow;
  /** New work of the session, for its host. */
  work?: HostedWork;
  /** New orders for a host; undefined if the notification carries none. */
  orders?: HostWork | undefined;
};

/** Work of a session, for one generation of its host. */
export type HostedWork = SessionWork & { hostId: string; generation: number };

export type Notifications = {
  /** Notifies waiting requests in this process and in other replicas. */
  notify(...topics: string[]): void;
  /** Notifies of a call that has ended. Waiting requests in this process get the call itself. */
  notifyOfCall(call: CallRow): void;
  /** Notifies of a changed session, and further topics. Waiting requests in this process get the values. */
  notifyOfSession(brought: NotifiedValues & { session: SessionRow }, ...topics: string[]): void;
  /** Notifies a host of its orders, and further topics. Waiting requests in this process get the orders. */
  notifyHost(hostId: string, brought: Pick<NotifiedValues, 'orders'>, ...topics: string[]): void;
  /** Notifies waiting requests in this process only. */
  notifyHere(topic: string): void;
  watch(topic: string): Watch<NotifiedValues>;
  /** Feed for gateways of the sessions whose routes changed. */
  readonly routes: RouteFeed;
  /** True once the program is stopping. Every waiting request then answers with the state it knows. */
  readonly closed: boolean;
  /** Number of requests that currently wait for a notification. */
  readonly held: number;
  /** Ends all waits. Until `stop` is called, notifications are still sent to other replicas. */
  close(): void;
  stop(): Promise<void>;
  /** Loops that listen to other replicas and that check for peers. */
  loops: readonly Loop<unknown>[];
};

/**
 * Maximum number of topics in one NOTIFY. The payload of a NOTIFY is limited to 8000 bytes, and ids are far shorter
 * than 100.
 */
const topicsPerNotice = 70;
/** Pause between two batches, in milliseconds. */
const batchRestMs = 5;

const batch = (sender: string, topics: readonly string[]): string[] => {
  const payloads: string[] = [];
  for (let start = 0; start < topics.length; start += topicsPerNotice) {
    payloads.push([sender, ...topics.slice(start, start + topicsPerNotice)].join(' '));
  }
  return payloads;
};

/**
 * Sends topics to other replicas. Topics of one round of the event loop, and topics that arrive during a send, are sent
 * together.
 */
const createSender = (db: Queryable, sender: string, peers: Peers, log: Log) => {
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
          'notifications to other replicas were lost; waiting requests query their state at intervals',
        );
      }
    }
    sending = undefined;
  };

  return {
    send(topics: readonly string[]) {
      if (peers.isAlone()) return;
      for (const topic of topics) pending.add(topic);
      // A batch serves all projects, so its statement does not queue behind any of them.
      sending ??= forNoProject(() => Promise.resolve().then(sendAll));
    },
    async flushed() {
      await sending;
    },
  };
};

/** Starts listening and sending. Checks for peers every `everyMs` milliseconds. */
export const startNotifications = (
  databaseUrl: Secret,
  db: Queryable,
  log: Log,
  everyMs = lookEveryMs,
): Notifications => {
  const local = createTopics<NotifiedValues>();
  const self = randomBytes(6).toString('hex');
  const peers = watchPeers(db, log, everyMs);
  const sender = createSender(db, self, peers, log);
  const routes = createRouteFeed();
  const notifyLocal = (topic: string): void => {
    if (topic.startsWith(routeMark)) routes.note(topic.slice(routeMark.length));
    local.notify(topic.startsWith(routeMark) ? routesTopic : topic);
  };
  const hear = (payload: string): void => {
    const [from, ...topics] = payload.split(' ');
    if (from === self) return;
    peers.heard();
    for (const topic of topics) notifyLocal(topic);
  };
  const lookAgain = (): void => {
    routes.breakOff();
    local.notifyAll();
  };
  let settling: NodeJS.Timeout | undefined;
  // Peers may not send to this replica before they know that it listens. So once they do, all waiting requests query
  // again.
  const afterBreak = (pid: number): void => {
    peers.listensAs(pid);
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
    notify(...topics) {
      for (const topic of topics) notifyLocal(topic);
      sender.send(topics);
    },
    notifyOfCall(call) {
      local.notify(call.id, { call });
      sender.send([call.id]);
    },
    notifyOfSession(brought, ...topics) {
      const { id } = brought.session;
      local.notify(id, brought);
      for (const topic of topics) notifyLocal(topic);
      sender.send([id, ...topics]);
    },
    notifyHost(hostId, brought, ...topics) {
      local.notify(hostId, brought);
      for (const topic of topics) notifyLocal(topic);
      sender.send([hostId, ...topics]);
    },
    notifyHere: (topic) => local.notify(topic),
    watch: (topic) => local.watch(topic),
    routes,
    get closed() {
      return local.closed;
    },
    get held() {
      return local.waiting;
    },
    loops: [listening, peers.loop],
    close: () => local.close(),
    async stop() {
      local.close();
      clearTimeout(settling);
      await sender.flushed();
      await Promise.all([listening.stop(), peers.loop.stop()]);
    },
  };
};

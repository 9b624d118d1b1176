/**
 * Gauges of load, read at each scrape from the database and from the parts of this replica. Those from the database
 * are installation-wide, and the same on every replica.
 */

import { Gauge, type Registry } from 'prom-client';
import { AppError } from '#domain/error.ts';
import { sessionStates, sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import type { Log } from '#runtime/log.ts';
import { readTogether } from '#runtime/metrics.ts';
import type { Database } from '../../db/core/database.ts';
import { type OutboxLoad, readOutboxLoad } from '../../db/observability/session-traces.ts';
import { type Load, readLoad } from '../../db/sessions/load.ts';
import { type PushLoad, readPushLoad } from '../../db/sessions/pushes.ts';
import { type ImportLoad, readImportLoad } from '../../db/worlds/import-jobs.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Notifications } from '../notifications/notifications.ts';
import type { Metrics } from './counters.ts';

type LoadParts = {
  blobs: Blobs;
  /** Jobs that run, and jobs that wait for a process. */
  compiler: { load(): { running: number; queued: number } };
  db: Database;
  log: Log;
  metrics: Metrics;
  notifications: Notifications;
};

/** Memory budget for bodies of requests. */
type Uploads = { bytes(): number };

const liveStates = sessionStates.filter((state) => !isFinal(sessionTransitions, state));

type Installation = Load & { imports: ImportLoad; pushes: PushLoad; traceDues: OutboxLoad };

/** Adds the gauges from the database. While it is unavailable they are missing, and `svc_database_up` is 0. */
const addInstallation = (registry: Registry, { db, log }: LoadParts): void => {
  let load: Installation | undefined;
  const read = readTogether(async () => {
    load = undefined;
    const [sessions, imports, pushes, traceDues] = await Promise.all([
      readLoad(db),
      readImportLoad(db),
      readPushLoad(db),
      readOutboxLoad(db),
    ]);
    load = { ...sessions, imports, pushes, traceDues };
  }, log);
  const gauge = (name: string, help: string, numberOf: (load: Installation) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const isRead = await read();
        if (isRead && load !== undefined) this.set(numberOf(load));
        else this.remove();
      },
    });
  };
  new Gauge({
    name: 'svc_database_up',
    help: 'Whether the database answered when metrics were read',
    registers: [registry],
    async collect() {
      this.set((await read()) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'svc_sessions',
    help: 'Sessions that have not ended, by state',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      if (!(await read()) || load === undefined) return;
      for (const state of liveStates) this.set({ state }, load.sessions[state] ?? 0);
    },
  });
  gauge('svc_pushes_queued', 'Webhooks that wait to be posted', ({ pushes }) => pushes.queued);
  gauge('svc_pushes_sending', 'Webhooks that are being posted', ({ pushes }) => pushes.sending);
  gauge(
    'svc_pushes_oldest_seconds',
    'How long the oldest webhook that waits to be posted has waited',
    ({ pushes }) => pushes.oldestSeconds,
  );
  gauge(
    'svc_session_trace_dues',
    'Things that wait to be told of sessions in their traces; counted to 10000',
    ({ traceDues }) => traceDues.waiting,
  );
  gauge(
    'svc_session_trace_oldest_seconds',
    'How long the oldest of them has waited',
    ({ traceDues }) => traceDues.oldestSeconds,
  );
  gauge('svc_sessions_waiting', 'Sessions that wait for a host', ({ waiting }) => waiting);
  gauge(
    'svc_sessions_longest_wait_seconds',
    'How long the oldest of the sessions without a host has waited',
    ({ longestWaitMs }) => longestWaitMs / 1_000,
  );
  gauge(
    'svc_browsers_waiting',
    'Sessions that wait for a browser',
    ({ browsers }) => browsers.waiting,
  );
  gauge(
    'svc_browsers_longest_wait_seconds',
    'How long the oldest of the sessions without the browser that they asked for has waited',
    ({ browsers }) => browsers.longestWaitMs / 1_000,
  );
  new Gauge({
    name: 'svc_imports',
    help: 'Imports and publishes that have not ended: queued, running, or lost (its worker is gone)',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      if (!(await read()) || load === undefined) return;
      const { queued, running, lost } = load.imports;
      for (const [state, count] of Object.entries({ queued, running, lost })) {
        this.set({ state }, count);
      }
    },
  });
  gauge(
    'svc_imports_oldest_queued_seconds',
    'How long the oldest import that waits has waited',
    ({ imports }) => imports.oldestSeconds,
  );
  gauge('svc_calls_queued', 'Calls that no host has taken', ({ queued }) => queued);
  gauge('svc_calls_running', 'Calls that a host has taken', ({ claimed }) => claimed);
  gauge(
    'svc_calls_oldest_queued_seconds',
    'Age of the oldest call that no host has taken',
    ({ oldestQueuedMs }) => oldestQueuedMs / 1_000,
  );
  gauge(
    'svc_calls_oldest_running_seconds',
    'How long ago the oldest of the calls under way was taken',
    ({ oldestClaimedMs }) => oldestClaimedMs / 1_000,
  );
};

/** Adds the gauges of this replica alone. */
const addReplica = (registry: Registry, { db, compiler, notifications }: LoadParts): void => {
  const states = (name: string, help: string, read: () => Record<string, number>): void => {
    new Gauge({
      name,
      help,
      labelNames: ['state'],
      registers: [registry],
      collect() {
        for (const [state, value] of Object.entries(read())) this.set({ state }, value);
      },
    });
  };
  states('svc_database_connections', 'Connections to the database: in use or idle', () => {
    const { used, idle } = db.connections();
    return { used, idle };
  });
  states('svc_compile_jobs', 'Compile jobs that run or wait for a process', () => compiler.load());
  new Gauge({
    name: 'svc_database_connections_max',
    help: 'Connections to the database that this replica may have',
    registers: [registry],
    collect() {
      this.set(db.connections().most);
    },
  });
  new Gauge({
    name: 'svc_database_waiting',
    help: 'Statements and transactions that wait for a connection',
    registers: [registry],
    collect() {
      this.set(db.connections().waiting);
    },
  });
  new Gauge({
    name: 'svc_waits_held',
    help: 'Requests whose answer is held until there is news: long polls and ?wait=',
    registers: [registry],
    collect() {
      this.set(notifications.held);
    },
  });
};

/** Adds the gauges of stores. Pods stay ready while a blob service is down or a disk is full, so only these show it. */
const addStores = (registry: Registry, { blobs, db, log }: LoadParts): void => {
  const read = readTogether(() => blobs.check(), log);
  new Gauge({
    name: 'svc_blobs_up',
    help: 'Whether the store of blobs could be used when metrics were read',
    registers: [registry],
    async collect() {
      this.set((await read()) ? 1 : 0);
    },
  });
  let isFull = false;
  /** Errors other than a full disk do not set this gauge; an unavailable blob store has a gauge of its own. */
  const tryBlobs = readTogether(async () => {
    isFull = false;
    try {
      await blobs.checkRoom?.();
    } catch (error) {
      isFull = error instanceof AppError && error.detail.full === 'blobs';
      if (!isFull) throw error;
    }
  }, log);
  new Gauge({
    name: 'svc_disk_full',
    help: 'Whether writes find no room: of the database within two minutes, of blobs when metrics were read',
    labelNames: ['disk'],
    registers: [registry],
    async collect() {
      this.set({ disk: 'database' }, db.room.wasFull() ? 1 : 0);
      if (blobs.checkRoom === undefined) return;
      await tryBlobs();
      this.set({ disk: 'blobs' }, isFull ? 1 : 0);
    },
  });
};

const addUploads = (registry: Registry, uploads: Uploads): void => {
  new Gauge({
    name: 'svc_upload_bytes',
    help: 'Bytes that bodies of requests under way may take',
    registers: [registry],
    collect() {
      this.set(uploads.bytes());
    },
  });
};

/** Adds all gauges to the program's registry. */
export const addLoadMetrics = (parts: LoadParts, uploads: Uploads): void => {
  addInstallation(parts.metrics.registry, parts);
  addUploads(parts.metrics.registry, uploads);
  addReplica(parts.metrics.registry, parts);
  addStores(parts.metrics.registry, parts);
};

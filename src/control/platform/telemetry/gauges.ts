/**
 * Gauges of the load. At each scrape they are read from the database and from parts of this replica. Gauges from the
 * database are about the whole installation and the same on every replica.
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
  /** Number of jobs that run, and of jobs that wait for a process. */
  compiler: { load(): { running: number; queued: number } };
  db: Database;
  log: Log;
  metrics: Metrics;
  notifications: Notifications;
};

/** Memory budget for request bodies. */
type Uploads = { bytes(): number };

const liveStates = sessionStates.filter((state) => !isFinal(sessionTransitions, state));

type Installation = Load & { imports: ImportLoad; pushes: PushLoad; traceDues: OutboxLoad };

/**
 * Returns a function that reads the load, once for all gauges of a scrape. The function returns undefined while the
 * database is unavailable.
 */
const installationReader = ({ db, log }: LoadParts): (() => Promise<Installation | undefined>) => {
  let load: Installation | undefined;
  const read = readTogether(async () => {
    const [sessions, imports, pushes, traceDues] = await Promise.all([
      readLoad(db),
      readImportLoad(db),
      readPushLoad(db),
      readOutboxLoad(db),
    ]);
    load = { ...sessions, imports, pushes, traceDues };
  }, log);
  return async () => ((await read()) ? load : undefined);
};

/** Creates gauges whose values come from the database. While the database is unavailable, the gauges have no value. */
class InstallationGauges {
  readonly #registers: Registry[];
  readonly #read: () => Promise<Installation | undefined>;

  constructor(registry: Registry, read: () => Promise<Installation | undefined>) {
    this.#registers = [registry];
    this.#read = read;
  }

  /** Creates a gauge with a single number. */
  number(name: string, help: string, numberOf: (load: Installation) => number): void {
    const read = this.#read;
    new Gauge({
      name,
      help,
      registers: this.#registers,
      async collect() {
        const load = await read();
        if (load === undefined) this.remove();
        else this.set(numberOf(load));
      },
    });
  }

  /** Creates a gauge with one number for each state. */
  states(
    name: string,
    help: string,
    numbersOf: (load: Installation) => Record<string, number>,
  ): void {
    const read = this.#read;
    new Gauge({
      name,
      help,
      labelNames: ['state'],
      registers: this.#registers,
      async collect() {
        const load = await read();
        this.reset();
        if (load === undefined) return;
        for (const [state, count] of Object.entries(numbersOf(load))) this.set({ state }, count);
      },
    });
  }
}

const addSessions = (gauges: InstallationGauges): void => {
  gauges.states('svc_sessions', 'Sessions that have not ended, by state', ({ sessions }) =>
    Object.fromEntries(liveStates.map((state) => [state, sessions[state] ?? 0])),
  );
  gauges.number('svc_sessions_waiting', 'Sessions that wait for a host', ({ waiting }) => waiting);
  gauges.number(
    'svc_sessions_longest_wait_seconds',
    'Longest time for which a session has waited for a host',
    ({ longestWaitMs }) => longestWaitMs / 1_000,
  );
  gauges.number(
    'svc_browsers_waiting',
    'Sessions that wait for a browser',
    ({ browsers }) => browsers.waiting,
  );
  gauges.number(
    'svc_browsers_longest_wait_seconds',
    'Longest time for which a session has waited for a browser',
    ({ browsers }) => browsers.longestWaitMs / 1_000,
  );
};

const addCalls = (gauges: InstallationGauges): void => {
  gauges.number('svc_calls_queued', 'Calls that no host has claimed', ({ queued }) => queued);
  gauges.number(
    'svc_calls_running',
    'Calls that a host has claimed and not answered',
    ({ claimed }) => claimed,
  );
  gauges.number(
    'svc_calls_oldest_queued_seconds',
    'Longest time for which a queued call has waited for its host',
    ({ oldestQueuedMs }) => oldestQueuedMs / 1_000,
  );
  gauges.number(
    'svc_calls_oldest_running_seconds',
    'Longest time since a host claimed a call that it has not answered',
    ({ oldestClaimedMs }) => oldestClaimedMs / 1_000,
  );
};

const addWebhooks = (gauges: InstallationGauges): void => {
  gauges.number(
    'svc_pushes_queued',
    'Webhook deliveries that wait to be sent',
    ({ pushes }) => pushes.queued,
  );
  gauges.number(
    'svc_pushes_sending',
    'Webhook deliveries that are being sent',
    ({ pushes }) => pushes.sending,
  );
  gauges.number(
    'svc_pushes_oldest_seconds',
    'Longest time for which a webhook delivery has waited to be sent',
    ({ pushes }) => pushes.oldestSeconds,
  );
};

const addSessionTraces = (gauges: InstallationGauges): void => {
  gauges.number(
    'svc_session_trace_dues',
    'Changes of sessions that wait to be written into the traces of the sessions; counted up to 10000',
    ({ traceDues }) => traceDues.waiting,
  );
  gauges.number(
    'svc_session_trace_oldest_seconds',
    'Longest time for which a change of a session has waited to be written into the trace',
    ({ traceDues }) => traceDues.oldestSeconds,
  );
};

const addImports = (gauges: InstallationGauges): void => {
  gauges.states(
    'svc_imports',
    'Imports and publishes that have not ended, by state: queued, running, or lost (the worker is gone)',
    ({ imports: { queued, running, lost } }) => ({ queued, running, lost }),
  );
  gauges.number(
    'svc_imports_oldest_queued_seconds',
    'Longest time for which an import or publish has waited for a worker',
    ({ imports }) => imports.oldestSeconds,
  );
};

/**
 * Adds the gauges from the database. While the database is unavailable, they are missing, and `svc_database_up` is 0.
 */
const addInstallation = (registry: Registry, parts: LoadParts): void => {
  const read = installationReader(parts);
  new Gauge({
    name: 'svc_database_up',
    help: '1 if the database answered when metrics were read, otherwise 0',
    registers: [registry],
    async collect() {
      this.set((await read()) === undefined ? 0 : 1);
    },
  });
  const gauges = new InstallationGauges(registry, read);
  addSessions(gauges);
  addCalls(gauges);
  addWebhooks(gauges);
  addSessionTraces(gauges);
  addImports(gauges);
};

/** Adds the gauges that are about this replica alone. */
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
  states('svc_database_connections', 'Connections to the database, by state: used or idle', () => {
    const { used, idle } = db.connections();
    return { used, idle };
  });
  states('svc_compile_jobs', 'Compile jobs, by state: running, or queued for a process', () =>
    compiler.load(),
  );
  new Gauge({
    name: 'svc_database_connections_max',
    help: 'Maximum number of connections of this replica to the database',
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
    help: 'Requests that are held until there is an answer: long polls and requests with ?wait=',
    registers: [registry],
    collect() {
      this.set(notifications.held);
    },
  });
};

/**
 * Adds the gauges of the blob store and of disks. Pods stay ready while a blob service is unavailable or a disk is
 * full, so only these gauges show it.
 */
const addStores = (registry: Registry, { blobs, db, log }: LoadParts): void => {
  const read = readTogether(() => blobs.check(), log);
  new Gauge({
    name: 'svc_blobs_up',
    help: '1 if the store of blobs could be used when metrics were read, otherwise 0',
    registers: [registry],
    async collect() {
      this.set((await read()) ? 1 : 0);
    },
  });
  let isFull = false;
  /**
   * Tests for free disk space. Errors other than a full disk do not set the gauge `svc_disk_full`; an unavailable blob
   * store has its own gauge.
   */
  const tryBlobs = readTogether(async () => {
    isFull = false;
    try {
      await blobs.checkDiskSpace?.();
    } catch (error) {
      isFull = error instanceof AppError && error.detail.full === 'blobs';
      if (!isFull) throw error;
    }
  }, log);
  new Gauge({
    name: 'svc_disk_full',
    help: '1 if a disk is full, otherwise 0: database, as writes of the last two minutes found it; blobs, when metrics were read',
    labelNames: ['disk'],
    registers: [registry],
    async collect() {
      this.set({ disk: 'database' }, db.diskSpace.wasFull() ? 1 : 0);
      if (blobs.checkDiskSpace === undefined) return;
      await tryBlobs();
      this.set({ disk: 'blobs' }, isFull ? 1 : 0);
    },
  });
};

const addUploads = (registry: Registry, uploads: Uploads): void => {
  new Gauge({
    name: 'svc_upload_bytes',
    help: 'Memory reserved for bodies of requests in progress, in bytes',
    registers: [registry],
    collect() {
      this.set(uploads.bytes());
    },
  });
};

/** Adds all gauges to the program's metrics registry. */
export const addLoadMetrics = (parts: LoadParts, uploads: Uploads): void => {
  addInstallation(parts.metrics.registry, parts);
  addUploads(parts.metrics.registry, uploads);
  addReplica(parts.metrics.registry, parts);
  addStores(parts.metrics.registry, parts);
};

/**
 * Notifications between replicas, by LISTEN and NOTIFY. Each running replica has one connection that listens on one
 * channel. If the connection breaks, it is opened again, and `onConnected` is called again, because notifications may
 * have been missed.
 */
import { once } from 'node:events';
import pg from 'pg';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Secret } from '#runtime/secret.ts';
import { type Queryable, statement } from './database.ts';

export const notificationChannel = 'svc';

// A notification that is lost in a crash only costs time, so its commit does not wait for the disk.
const notifyStatement = statement(
  'notify',
  `select set_config('synchronous_commit', 'off', true), pg_notify('${notificationChannel}', payload)
     from unnest($1::text[]) as payload`,
);

export const sendNotifications = async (
  db: Queryable,
  payloads: readonly string[],
): Promise<void> => {
  await db.query(notifyStatement, [payloads]);
};

const listenerName = 'svc-control-listen';
/**
 * `application_name` of the connection until it holds its advisory lock. The connection counts as a listener only once
 * it holds the lock.
 */
const beginnerName = 'svc-control-begin';

const countStatement = statement(
  'count_listeners',
  `select count(*) filter (where pid = $1)::int as own, count(*) filter (where pid <> $1)::int as others
     from pg_stat_activity where application_name = '${listenerName}' and datname = current_database()`,
);

/** Counts the listening connections: the one of this process (0 or 1), and those of other processes. */
export const countListeners = async (
  db: Queryable,
  ownPid: number,
): Promise<{ own: number; others: number }> => {
  const [counts] = await db.query<{ own: number; others: number }>(countStatement, [ownPid]);
  return counts ?? { own: 0, others: 0 };
};

/**
 * Advisory lock, as two numbers ("svcb", 1). The connection of each control plane holds it if the release of that
 * control plane knows browsers.
 */
const knowsBrowsers = '1937138530, 1';

const olderStatement = statement(
  'older_listeners',
  `select exists (
     select from pg_stat_activity a
      where a.application_name = '${listenerName}' and a.datname = current_database()
        and not exists (select from pg_locks l
                         where l.pid = a.pid and l.locktype = 'advisory' and l.granted
                           and (l.classid, l.objid, l.objsubid) = (${knowsBrowsers}, 2))) as any`,
);

/**
 * Returns true if a control plane is running whose release does not know browsers, as during a rolling update. Such a
 * control plane would treat the loss of a browser as the loss of the session's world.
 */
export const isOlderListening = async (db: Queryable): Promise<boolean> =>
  (await db.query<{ any: boolean }>(olderStatement, []))[0]?.any === true;

export type ListenOptions = {
  databaseUrl: Secret;
  /** Name of the channel: a plain SQL identifier. */
  channel: string;
  onNotice(payload: string): void;
  /** Payload that is sent on the channel as soon as this connection listens. */
  greeting: string;
  /**
   * Called when the connection is open, for the first time or again. `pid` is the connection's process id at
   * PostgreSQL.
   */
  onConnected(pid: number): void;
  log: Log;
};

const connectTimeoutMs = 5_000;

const listenOnce = async (options: ListenOptions, signal: AbortSignal): Promise<void> => {
  const client = new pg.Client({
    connectionString: options.databaseUrl.reveal(),
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: beginnerName,
  });
  // An error is always followed by `end`, which ends this attempt.
  client.on('error', (err) => options.log.debug({ err }, 'listening connection broke'));
  client.on('notification', ({ payload }) => options.onNotice(payload ?? ''));
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const { channel, greeting } = options;
    await client.query(`select pg_advisory_lock_shared(${knowsBrowsers})`);
    await client.query(`set application_name = '${listenerName}'`);
    await client.query(`listen ${channel}; notify ${channel}, ${client.escapeLiteral(greeting)}`);
    options.onConnected(rows[0]?.pid ?? 0);
    await once(client, 'end', { signal });
  } finally {
    await client.end();
  }
  throw new Error('the connection that listens for notifications ended');
};

/** Starts listening. It reconnects until `stop` is called. */
export const startListening = (options: ListenOptions): Loop<void> =>
  startLoop({
    name: 'listen',
    everyMs: 0,
    tick: (signal) => listenOnce(options, signal),
    log: options.log,
  });

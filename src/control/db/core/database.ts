/**
 * The connections to PostgreSQL. A statement has a name, so that each connection parses and plans it once. An error of
 * the driver leaves here as an `AppError` if callers can act on it. A violated constraint keeps its own error, because
 * only the author of the statement knows what it means.
 */
import { once } from 'node:events';
import pg from 'pg';
import type { Log } from '#runtime/log.ts';
import type { Secret } from '#runtime/secret.ts';
import { createConnectionQueue } from './connection-queue.ts';
import { CopyIn } from './copy-in.ts';
import { createDiskSpace, type DiskSpace } from './disk-space.ts';
import { translateDatabaseError } from './errors.ts';
import { readParameters, type Values, valuesOf } from './parameters.ts';
import { createProjectQueue, type ProjectQueueLimits } from './project-queue.ts';
import { makerOf } from './row-maker.ts';
import { types } from './times.ts';

/** One SQL statement. The name of a prepared statement is unique in the program, see `statement`. */
export type Statement = {
  name: string;
  /** SQL text with numbered parameters. */
  text: string;
  /** Names of the parameters, in the order of their numbers. Empty if the text numbers its parameters itself. */
  names: readonly string[];
  /** True if PostgreSQL plans the statement for its values at each execution, instead of once for all values. */
  isPlannedAnew?: true;
};

export type Queryable = {
  /** Runs a statement and returns its rows. JSON parameters are passed as text. */
  query<Row>(statement: Statement, values: Values): Promise<Row[]>;
};

/** Queries inside one transaction. */
export type Transaction = Queryable & {
  /** Runs a `copy … from stdin` on encoded rows; `name` is the name of the statement. */
  copyIn(name: string, text: string, bytes: Buffer): Promise<void>;
  /**
   * Upper bound for the rows that one statement writes, if the work can be split into several. Other requests wait for
   * each statement.
   */
  readonly rowsAtOnce?: number;
};

/**
 * Planning of a transaction's statements. With `by_key` they find rows only by keys, even in a table that is empty
 * when they are planned. Otherwise PostgreSQL would plan a sequential scan, and keep that plan while the table grows,
 * until it is analyzed.
 */
export type Planning = 'usual' | 'by_key';

/**
 * Timeouts for the locks of a transaction, in milliseconds. If one expires, the statement fails as `unavailable`, and
 * `isLockConflict` (errors.ts) returns true for the error.
 */
export type Locking = {
  /** Timeout for each row that another transaction has locked. */
  rowsMs: number;
  /** Advisory lock, held for the whole transaction, exclusive or shared. */
  lock?: { name: string; isShared: boolean; waitMs: number };
};

export type Database = Queryable & {
  /**
   * Passes each row of a statement to `take` as it arrives, so that large results are never in memory as a whole.
   * Throws what `take` throws.
   */
  each<Row>(statement: Statement, values: Values, take: (row: Row) => void): Promise<void>;
  /** Runs `work` in one transaction (read committed); it rolls back when `work` throws. */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    planning?: Planning,
    locking?: Locking,
  ): Promise<Result>;
  /** State of the database's disk, as the last writes found it. */
  readonly diskSpace: Pick<DiskSpace, 'check' | 'wasFull'>;
  /** Returns the connections of this process, by use, and the number of requests that wait for one. */
  connections(): { used: number; idle: number; waiting: number; most: number };
  close(): Promise<void>;
};

/**
 * Declares a statement whose best plan depends on its values. Examples are a list with filters that may be absent, and
 * a filter that matches few rows or many. A generic plan scans the whole table for a filter that matches few rows.
 */
export const replannedStatement = (name: string, text: string): Statement => ({
  name,
  ...readParameters(text),
  isPlannedAnew: true,
});

/** Text of each prepared statement, by its name. */
const declared = new Map<string, string>();

/** PostgreSQL truncates longer names of prepared statements, so that two names could become one. */
const longestName = 63;

/**
 * Declares a prepared statement; its parameters have names (`:id`), or numbers where there are one or two. Throws if a
 * different statement has the name. Otherwise a connection would prepare the first of the two and refuse the other, so
 * requests would fail depending on their connection. Statements are declared as modules load, so the program does not
 * start with a duplicate.
 */
export const statement = (name: string, text: string): Statement => {
  const known = declared.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named "${name}"`);
  if (name.length > longestName) throw new Error(`the name "${name}" of a statement is too long`);
  declared.set(name, text);
  return { name, ...readParameters(text) };
};

/** Size of a connection pool, its limits, and its name at the server (`application_name`). */
export type PoolShape = {
  name: string;
  connections: number;
  /** Limits for requests of projects: on all of them together, and on those of one project. */
  turns: ProjectQueueLimits;
  /**
   * Queue before the connections. It serves requests that passed the project queue, and work without a project: hosts,
   * orchestrators, the program itself.
   */
  line: { waiting: number; waitMs: number };
};

/** Default pool; everything uses it except what has a pool below. */
const usualPool: PoolShape = {
  name: 'svc-control',
  connections: 10,
  turns: { all: 8, ofProject: 5, waiting: 2_000, waitMs: 15_000 },
  line: { waiting: 5_000, waitMs: 15_000 },
};

/**
 * Pool for telemetry. It is separate, so that ingestion and searches leave session opens and calls their connections.
 */
export const tracePool: PoolShape = {
  name: 'svc-traces',
  connections: 8,
  turns: { all: 7, ofProject: 5, waiting: 200, waitMs: 5_000 },
  line: { waiting: 400, waitMs: 5_000 },
};

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;

/** Builds the driver's query for a statement. */
const queryOf = ({ isPlannedAnew, ...statement }: Statement, values: Values) => ({
  ...(isPlannedAnew ? {} : { name: statement.name }),
  text: statement.text,
  values: valuesOf(statement, values),
});

const run = async <Row>(
  client: pg.Pool | pg.PoolClient,
  diskSpace: DiskSpace,
  statement: Statement,
  values: Values,
): Promise<Row[]> => {
  try {
    const query = queryOf(statement, values);
    const result = await diskSpace.note(statement.name, () => client.query(query));
    return result.rows;
  } catch (error) {
    throw translateDatabaseError(error);
  }
};

const runEach = async <Row>(
  client: pg.PoolClient,
  statement: Statement,
  values: Values,
  take: (row: Row) => void,
): Promise<void> => {
  const config: pg.QueryArrayConfig = { ...queryOf(statement, values), rowMode: 'array' };
  const query = new pg.Query<unknown[]>(config);
  let make: ((values: readonly unknown[]) => unknown) | undefined;
  let thrown: unknown;
  // An exception in a handler of the driver's events would end the program.
  query.on('row', (row, result) => {
    if (thrown !== undefined) return;
    try {
      if (result === undefined) throw new Error('the driver gave a row without its columns');
      make ??= makerOf(statement, result.fields);
      take(make(row) as Row);
    } catch (error) {
      thrown = error ?? new Error('a row was not taken');
    }
  });
  try {
    client.query(query);
    await once(query, 'end');
  } catch (error) {
    throw translateDatabaseError(error);
  } finally {
    client.release();
  }
  if (thrown !== undefined) throw thrown;
};

const copyIn = async (
  client: pg.PoolClient,
  diskSpace: DiskSpace,
  name: string,
  text: string,
  bytes: Buffer,
): Promise<void> => {
  try {
    await diskSpace.note(name, () => client.query(new CopyIn(text, bytes)).written);
  } catch (error) {
    throw translateDatabaseError(error);
  }
};

const connect = async (pool: pg.Pool): Promise<pg.PoolClient> => {
  try {
    return await pool.connect();
  } catch (error) {
    throw translateDatabaseError(error);
  }
};

/** Rolls back a failed transaction. If the rollback fails too, the connection is discarded. */
const giveUp = async (client: pg.PoolClient): Promise<void> => {
  try {
    await client.query('rollback');
    client.release();
  } catch (error) {
    client.release(error instanceof Error ? error : true);
  }
};

const begins: Readonly<Record<Planning, string>> = {
  usual: 'begin',
  by_key: 'begin; set local enable_seqscan = off',
};

const waiting = (ms: number): string => `set local lock_timeout = ${Math.floor(ms)}`;

const lockText = ({ name, isShared }: { name: string; isShared: boolean }): string =>
  `select pg_advisory_xact_lock${isShared ? '_shared' : ''}(hashtextextended(${pg.escapeLiteral(name)}, 0))`;

/**
 * Builds the text that begins a transaction. The server gets it in one write, and each later statement sees everything
 * committed before the lock was granted.
 */
const beginOf = (planning: Planning, locking: Locking | undefined): string => {
  const begin = begins[planning];
  if (locking === undefined) return begin;
  const { lock, rowsMs } = locking;
  const locked = lock === undefined ? [] : [waiting(lock.waitMs), lockText(lock)];
  return [begin, ...locked, waiting(rowsMs)].join('; ');
};

const transact = async <Result>(
  client: pg.PoolClient,
  diskSpace: DiskSpace,
  work: (tx: Transaction) => Promise<Result>,
  begin: string,
): Promise<Result> => {
  try {
    await client.query(begin);
    const result = await work({
      query: (text, values) => run(client, diskSpace, text, values),
      copyIn: (name, text, bytes) => copyIn(client, diskSpace, name, text, bytes),
    });
    await diskSpace.note('commit', () => client.query('commit'));
    client.release();
    return result;
  } catch (error) {
    await giveUp(client);
    throw translateDatabaseError(error);
  }
};

/** Opens a pool; connections are opened as needed and kept. */
export const openDatabase = (
  databaseUrl: Secret,
  log: Log,
  { name, connections, ...limits }: PoolShape = usualPool,
): Database => {
  const pool = new pg.Pool({
    connectionString: databaseUrl.reveal(),
    max: connections,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    keepAlive: true,
    application_name: name,
    types,
  });
  // A connection may break while it is idle; the next query then reports the error.
  const note = (error: Error) => log.warn({ err: error }, 'database connection broke');
  pool.on('error', note);
  pool.on('connect', (client) => client.on('error', note));
  const turns = createProjectQueue(limits.turns);
  const line = createConnectionQueue({ served: connections, ...limits.line });
  const diskSpace = createDiskSpace();
  const take = <Value>(work: () => Promise<Value>): Promise<Value> =>
    turns.take(() => line.take(work));
  return {
    query: (text, values) => take(() => run(pool, diskSpace, text, values)),
    each: (text, values, each) =>
      take(async () => runEach(await connect(pool), text, values, each)),
    transaction: (work, planning = 'usual', locking) =>
      take(async () => transact(await connect(pool), diskSpace, work, beginOf(planning, locking))),
    diskSpace,
    connections: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: line.waiting() + turns.waiting(),
      most: connections,
    }),
    close: () => pool.end(),
  };
};

/**
 * Connections to PostgreSQL. A statement has a name, so that each connection parses and plans it only once. An error of
 * the driver is thrown as an `AppError` if callers can act on it. The error of a violated constraint is thrown
 * unchanged, because only the author of the statement knows what the violation means.
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

/** SQL statement. If it is a prepared statement, its name is unique in the program; see `statement`. */
export type Statement = {
  name: string;
  /** SQL text with numbered parameters. */
  text: string;
  /** Names of the parameters, in the order of their numbers. Empty if the text has numbered parameters itself. */
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
  /** Runs a `copy … from stdin` with encoded rows. `name` is the name of the statement. */
  copyIn(name: string, text: string, bytes: Buffer): Promise<void>;
  /**
   * Maximum number of rows that one statement writes, if the work can be split into several statements. It is limited
   * because other requests wait for each statement. Undefined: no limit.
   */
  readonly rowsAtOnce?: number;
};

/**
 * How the statements of a transaction are planned. With `by_key`, they find rows only by keys, even in a table that is
 * empty at the time of planning. Otherwise PostgreSQL would plan a sequential scan, and use that plan while the table
 * grows, until the table is analyzed.
 */
export type Planning = 'usual' | 'by_key';

/**
 * Timeouts for the locks of a transaction, in milliseconds. If a timeout expires, the statement fails with
 * `unavailable`, and `isLockConflict` (errors.ts) returns true for the error.
 */
export type Locking = {
  /** Maximum wait for each row that another transaction has locked. */
  rowsMs: number;
  /** Advisory lock that is held for the whole transaction, exclusive or shared. */
  lock?: { name: string; isShared: boolean; waitMs: number };
};

export type Database = Queryable & {
  /**
   * Passes each row of a statement to `take` as it arrives, so that large results are never in memory as a whole.
   * Throws what `take` throws.
   */
  each<Row>(statement: Statement, values: Values, take: (row: Row) => void): Promise<void>;
  /** Runs `work` in one transaction (read committed). The transaction is rolled back if `work` throws. */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    planning?: Planning,
    locking?: Locking,
  ): Promise<Result>;
  /** State of the database's disk, according to the last writes. */
  readonly diskSpace: Pick<DiskSpace, 'check' | 'wasFull'>;
  /**
   * Returns the numbers of this process's connections in use, of its idle connections, and of requests that wait for a
   * connection, and the maximum number of connections.
   */
  connections(): { used: number; idle: number; waiting: number; most: number };
  close(): Promise<void>;
};

/**
 * Declares a statement that PostgreSQL plans at each execution, because the best plan depends on the values. Examples
 * are a list with filters that may be absent, and a filter that matches few rows or many. A generic plan would scan the
 * whole table even for a filter that matches few rows.
 */
export const replannedStatement = (name: string, text: string): Statement => ({
  name,
  ...readParameters(text),
  isPlannedAnew: true,
});

/** Text of each prepared statement, by its name. */
const declared = new Map<string, string>();

/** Maximum length of a statement's name. PostgreSQL truncates longer names, so that two names could become equal. */
const longestName = 63;

/**
 * Declares a prepared statement. Its parameters have names (`:id`); if there are one or two, they may have numbers.
 * Throws if a different statement has the same name. Otherwise a connection would prepare the first of the two
 * statements and refuse the second, so requests would fail depending on their connection. Statements are declared when
 * modules are loaded, so the program does not start with a duplicate name.
 */
export const statement = (name: string, text: string): Statement => {
  const known = declared.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named "${name}"`);
  if (name.length > longestName) throw new Error(`the name "${name}" of a statement is too long`);
  declared.set(name, text);
  return { name, ...readParameters(text) };
};

/** Size of a connection pool, its limits, and its name as the server shows it (`application_name`). */
export type PoolShape = {
  name: string;
  connections: number;
  /** Limits for requests of projects: for all of them together, and for those of one project. */
  turns: ProjectQueueLimits;
  /**
   * Limits of the queue in front of the connections. Requests wait in it once they have passed the project queue. Work
   * without a project (of hosts, orchestrators and the program itself) waits only in this queue.
   */
  line: { waiting: number; waitMs: number };
};

/** Default pool. It is used for everything except what has a separate pool below. */
const usualPool: PoolShape = {
  name: 'svc-control',
  connections: 10,
  turns: { all: 8, ofProject: 5, waiting: 2_000, waitMs: 15_000 },
  line: { waiting: 5_000, waitMs: 15_000 },
};

/**
 * Pool for telemetry. It is separate, so that ingestion and searches leave enough connections for session opens and
 * calls.
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
      if (result === undefined)
        throw new Error('the database driver passed a row without its columns');
      make ??= makerOf(statement, result.fields);
      take(make(row) as Row);
    } catch (error) {
      thrown = error ?? new Error('the function that takes rows failed without an error');
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

/** Rolls back a failed transaction. If the rollback also fails, the connection is discarded. */
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
 * Builds the text that begins a transaction. The server gets it in one write. Each statement after it sees everything
 * that was committed before the lock was granted.
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

/** Opens a connection pool. Connections are opened when they are needed, and stay open. */
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

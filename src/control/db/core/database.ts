/**
 * The connections to PostgreSQL. A statement has a name, so that each connection parses and plans it
 * once. What the driver throws leaves here as an `AppError` where callers can act on it; a violated
 * constraint stays what it is, because only the statement's author knows what it means.
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

/** One SQL statement. The name of a prepared one is unique in the program, see `statement`. */
export type Statement = {
  name: string;
  /** With numbered parameters. */
  text: string;
  /** Of named parameters, in the order of their numbers; of a statement that numbers them itself there are none. */
  names: readonly string[];
  /** Whether it is planned for its values each time, and not once for any. */
  isPlannedAnew?: true;
};

export type Queryable = {
  /** Runs a statement and returns its rows. JSON parameters are passed as text. */
  query<Row>(statement: Statement, values: Values): Promise<Row[]>;
};

/** Inside of a transaction. */
export type Transaction = Queryable & {
  /** Runs a `copy … from stdin` on the bytes of rows; `name` is that of the statement. */
  copyIn(name: string, text: string, bytes: Buffer): Promise<void>;
  /** How many rows one statement is to write at most, where there may be several of it: others wait for it meanwhile. */
  readonly rowsAtOnce?: number;
};

/**
 * How a transaction's statements are planned. `by_key`: they find rows by keys alone, also where a table is empty when
 * they are planned. Else PostgreSQL would read the whole of it, and go on so while it grows, until it is analyzed.
 */
export type Planning = 'usual' | 'by_key';

/**
 * What a transaction waits for, in milliseconds. What waited for so long fails as `unavailable`, and `isOfLock`
 * (errors.ts) is true of that.
 */
export type Locking = {
  /** For each row that others hold. */
  rowsMs: number;
  /** For an advisory lock, held from the begin to the end, which one has alone or any number share. */
  lock?: { name: string; isShared: boolean; waitMs: number };
};

export type Database = Queryable & {
  /** Gives each row of a statement to `take` as it arrives, so that many are never there at once. Throws what `take` throws. */
  each<Row>(statement: Statement, values: Values, take: (row: Row) => void): Promise<void>;
  /** Runs `work` in one transaction (read committed); it rolls back when `work` throws. */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    planning?: Planning,
    locking?: Locking,
  ): Promise<Result>;
  /** Whether its disk has room, as the last writes found it. */
  readonly room: Pick<DiskSpace, 'check' | 'wasFull'>;
  /** Connections of this process, and who waits for one. */
  connections(): { used: number; idle: number; waiting: number; most: number };
  close(): Promise<void>;
};

/**
 * Declares a statement whose best plan depends on its values, such as a list's with filters that may be absent, of
 * something that few have or many. A plan for any values looks through the whole table for those that few have.
 */
export const replannedStatement = (name: string, text: string): Statement => ({
  name,
  ...readParameters(text),
  isPlannedAnew: true,
});

/** Text of each prepared statement, by its name. */
const declared = new Map<string, string>();

/** PostgreSQL cuts longer names of prepared statements, so that two of them could become one. */
const longestName = 63;

/**
 * Declares a prepared statement; its parameters have names (`:id`), or numbers where there are one or two. Throws if
 * another statement has the name: a connection prepares the first of the two that it meets and refuses the other,
 * so a request would fail or succeed by the connection that it gets. Statements are declared as modules are loaded,
 * so the program does not start.
 */
export const statement = (name: string, text: string): Statement => {
  const known = declared.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named "${name}"`);
  if (name.length > longestName) throw new Error(`the name "${name}" of a statement is too long`);
  declared.set(name, text);
  return { name, ...readParameters(text) };
};

/** How many connections a pool has, who may have how many, and what they are called at the server. */
export type PoolShape = {
  name: string;
  connections: number;
  /** Of them, those that requests of projects may have at once, and those of one project. */
  turns: ProjectQueueLimits;
  /** Of what has its turn, and of what waits for no turn: hosts, orchestrators, the program itself. */
  line: { waiting: number; waitMs: number };
};

/** The connections of all but those below. */
const usualPool: PoolShape = {
  name: 'svc-control',
  connections: 10,
  turns: { all: 8, ofProject: 5, waiting: 2_000, waitMs: 15_000 },
  line: { waiting: 5_000, waitMs: 15_000 },
};

/** Those of what agents did: however much is ingested or searched, opens and calls have theirs. */
export const tracePool: PoolShape = {
  name: 'svc-traces',
  connections: 8,
  turns: { all: 7, ofProject: 5, waiting: 200, waitMs: 5_000 },
  line: { waiting: 400, waitMs: 5_000 },
};

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;

/** What the driver is asked for a statement. */
const queryOf = ({ isPlannedAnew, ...statement }: Statement, values: Values) => ({
  ...(isPlannedAnew ? {} : { name: statement.name }),
  text: statement.text,
  values: valuesOf(statement, values),
});

const run = async <Row>(
  client: pg.Pool | pg.PoolClient,
  room: DiskSpace,
  statement: Statement,
  values: Values,
): Promise<Row[]> => {
  try {
    const query = queryOf(statement, values);
    const result = await room.note(statement.name, () => client.query(query));
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
  // What is thrown among the driver's events would end the program.
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
  room: DiskSpace,
  name: string,
  text: string,
  bytes: Buffer,
): Promise<void> => {
  try {
    await room.note(name, () => client.query(new CopyIn(text, bytes)).written);
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

/** Ends a failed transaction. A connection that cannot even do that is thrown away. */
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

/** All of it is one write to the server, and each statement after it sees what was written before it had the lock. */
const beginOf = (planning: Planning, locking: Locking | undefined): string => {
  const begin = begins[planning];
  if (locking === undefined) return begin;
  const { lock, rowsMs } = locking;
  const locked = lock === undefined ? [] : [waiting(lock.waitMs), lockText(lock)];
  return [begin, ...locked, waiting(rowsMs)].join('; ');
};

const transact = async <Result>(
  client: pg.PoolClient,
  room: DiskSpace,
  work: (tx: Transaction) => Promise<Result>,
  begin: string,
): Promise<Result> => {
  try {
    await client.query(begin);
    const result = await work({
      query: (text, values) => run(client, room, text, values),
      copyIn: (name, text, bytes) => copyIn(client, room, name, text, bytes),
    });
    await room.note('commit', () => client.query('commit'));
    client.release();
    return result;
  } catch (error) {
    await giveUp(client);
    throw translateDatabaseError(error);
  }
};

/** Opens a pool; connections are made as they are needed and kept. */
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
  // A connection may break while nobody is waiting for it: the next query then says so itself.
  const note = (error: Error) => log.warn({ err: error }, 'database connection broke');
  pool.on('error', note);
  pool.on('connect', (client) => client.on('error', note));
  const turns = createProjectQueue(limits.turns);
  const line = createConnectionQueue({ served: connections, ...limits.line });
  const room = createDiskSpace();
  const take = <Value>(work: () => Promise<Value>): Promise<Value> =>
    turns.take(() => line.take(work));
  return {
    query: (text, values) => take(() => run(pool, room, text, values)),
    each: (text, values, each) =>
      take(async () => runEach(await connect(pool), text, values, each)),
    transaction: (work, planning = 'usual', locking) =>
      take(async () => transact(await connect(pool), room, work, beginOf(planning, locking))),
    room,
    connections: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: line.waiting() + turns.waiting(),
      most: connections,
    }),
    close: () => pool.end(),
  };
};

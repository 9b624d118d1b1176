/**
 * Runs one SQL statement, for setting up and inspecting databases in tests. A statement that writes has a connection
 * of its own. Reads are repeated until a condition holds, so their connection is kept between two of them: a new one
 * takes forty times the processor time of the statement.
 */
import pg from 'pg';

/**
 * Time for which an idle connection is kept, in milliseconds. A test that waits for a condition repeats its reads at
 * shorter intervals.
 */
const keptMs = 500;

type Kept = { client: pg.Client; timer: NodeJS.Timeout };

/** Idle connections by database. */
const idle = new Map<string, Kept>();

const forget = (databaseUrl: string, client: pg.Client): void => {
  const kept = idle.get(databaseUrl);
  if (kept?.client !== client) return;
  clearTimeout(kept.timer);
  idle.delete(databaseUrl);
};

const connect = async (databaseUrl: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  // If an idle connection is cut, it emits an error event, which is ignored; the next query fails.
  client.on('error', () => undefined);
  client.once('end', () => forget(databaseUrl, client));
  await client.connect();
  return client;
};

const takeIdle = (databaseUrl: string): pg.Client | undefined => {
  const kept = idle.get(databaseUrl);
  if (kept === undefined) return undefined;
  idle.delete(databaseUrl);
  clearTimeout(kept.timer);
  return kept.client;
};

const keep = async (databaseUrl: string, client: pg.Client): Promise<void> => {
  if (idle.has(databaseUrl)) return client.end();
  const timer = setTimeout(() => {
    forget(databaseUrl, client);
    void client.end();
  }, keptMs);
  idle.set(databaseUrl, { client, timer });
};

/** Returns true if an error is the server's answer to the statement, and not the end of the connection. */
const isAnswer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.severity === 'ERROR';

/** Reads on a connection that was kept open; returns undefined if there is none, or it was cut. */
const lookKept = async <Row extends object>(
  databaseUrl: string,
  sql: string,
  values: unknown[],
): Promise<Row[] | undefined> => {
  const client = takeIdle(databaseUrl);
  if (client === undefined) return undefined;
  try {
    const { rows } = await client.query<Row>(sql, values);
    await keep(databaseUrl, client);
    return rows;
  } catch (error) {
    await client.end();
    if (isAnswer(error)) throw error;
    return undefined;
  }
};

/** Runs the statement and returns its rows. */
export const execute = async <Row extends object>(
  databaseUrl: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> => {
  const isLook = /^\s*select\b/i.test(sql);
  const seen = isLook ? await lookKept<Row>(databaseUrl, sql, values) : undefined;
  if (seen !== undefined) return seen;
  const client = await connect(databaseUrl);
  try {
    const { rows } = await client.query<Row>(sql, values);
    if (isLook) await keep(databaseUrl, client);
    else await client.end();
    return rows;
  } catch (error) {
    await client.end();
    throw error;
  }
};

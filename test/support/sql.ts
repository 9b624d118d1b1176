/**
 * One SQL statement, for setting up and looking at databases in tests. What changes a database has a connection of its
 * own. What only looks is asked again and again until something has come about, so it has one that is kept between two
 * looks: a new one takes forty times the processor time of the statement.
 */
import pg from 'pg';

/** How long a connection is kept that nobody uses. Also long waits look more often. */
const keptMs = 500;

type Kept = { client: pg.Client; timer: NodeJS.Timeout };

/** Connections that nobody uses at the moment, by their database. */
const idle = new Map<string, Kept>();

const forget = (databaseUrl: string, client: pg.Client): void => {
  const kept = idle.get(databaseUrl);
  if (kept?.client !== client) return;
  clearTimeout(kept.timer);
  idle.delete(databaseUrl);
};

const connect = async (databaseUrl: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A connection that is cut while nothing is asked on it says so by an event; the next query fails.
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

/** An answer of the server to the statement, and not the end of the connection. */
const isAnswer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.severity === 'ERROR';

/** Looks on a kept connection; undefined where there is none, or it turns out to be cut. */
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

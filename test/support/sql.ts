/** One SQL statement on a connection of its own, for setting up and looking at databases in tests. */
import pg from 'pg';

/** Runs the statement and returns its rows. */
export const execute = async <Row extends object>(
  databaseUrl: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A connection that is cut while nothing is asked on it says so by an event; the next query fails.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const result = await client.query<Row>(sql, values);
    return result.rows;
  } finally {
    await client.end();
  }
};

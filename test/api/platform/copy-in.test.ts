/** Tests COPY with rows that are sent before the server has confirmed the statement. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { type Database, openDatabase, statement } from '../../../src/control/db/core/database.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await testDatabase();
  await execute(database.url, 'create table copied (number integer primary key, text text)');
  // One connection, so that the next query uses the connection on which the COPY failed.
  db = openDatabase(new Secret(database.url), createLog('test', 'silent'), {
    name: 'test',
    connections: 1,
    turns: { all: 1, ofProject: 1, waiting: 1, waitMs: 1_000 },
    line: { waiting: 10, waitMs: 5_000 },
  });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await execute(database.url, 'truncate copied');
});

const copyText = 'copy copied (number, text) from stdin';
const countStatement = statement('count_copied', 'select count(*)::int as count from copied');

const copy = (text: string, rows: string): Promise<number | undefined> =>
  db.transaction(async (tx) => {
    await tx.copyIn('copy_test', text, Buffer.from(rows));
    const [row] = await tx.query<{ count: number }>(countStatement, []);
    return row?.count;
  });

const rowsOf = (count: number, chars = 1): string =>
  Array.from({ length: count }, (_, i) => `${i}\t${'x'.repeat(chars)}\n`).join('');

it('COPY writes no rows, a few rows, and 32 MB of rows', async () => {
  expect(await copy(copyText, '')).toBe(0);
  expect(await copy(copyText, rowsOf(3))).toBe(3);
  await execute(database.url, 'truncate copied');
  expect(await copy(copyText, rowsOf(2_000, 16_384))).toBe(2_000);
});

it.each([
  ['a table that is not there', 'copy nothing from stdin', rowsOf(2_000, 1_024), 'lacks tables'],
  ['a statement that is none', 'copy copied from nowhere', rowsOf(2_000, 1_024), 'syntax error'],
  ['a row that is none', copyText, `${rowsOf(2_000, 1_024)}no number\tx\n`, 'cannot be stored'],
  ['a key that is there twice', copyText, `${rowsOf(2_000, 1_024)}7\tx\n`, 'duplicate key'],
])(
  'COPY reports %s, writes nothing, and leaves the connection usable',
  async (_, text, rows, message) => {
    await expect(copy(text, rows)).rejects.toThrow(message);
    expect(await db.query(countStatement, [])).toEqual([{ count: 0 }]);
    expect(await copy(copyText, rowsOf(3))).toBe(3);
  },
);

it('COPY reports a connection that is lost on the way, and the pool opens a new one', async () => {
  await execute(
    database.url,
    `create function lose() returns trigger language plpgsql as
     $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
     create trigger lose before insert on copied for each row execute function lose()`,
  );
  await expect(copy(copyText, rowsOf(2_000, 1_024))).rejects.toThrow('does not answer');
  await execute(database.url, 'drop trigger lose on copied');
  expect(await copy(copyText, rowsOf(3))).toBe(3);
});

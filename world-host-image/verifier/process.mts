/**
 * Process that runs one verifier. It creates the tables, fills them with the rows that the host sends, limits itself to
 * reading, runs the query and prints the verdicts. The host kills the process if it takes too long.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { EntityContract, Row } from '#language/contract.ts';
import { quoteName } from '#language/sql/ddl.ts';
import {
  allowReadingOnly,
  attachBase,
  findVerifierFault,
  openVerifierTables,
  verifiedEntities,
} from '#language/sql/verifier.ts';
import { fileAddress } from '#store/files/open-file.ts';
import { keyFrom } from '#store/tables/keys.ts';
import {
  gone,
  type Judged,
  loaded,
  outOfMemory,
  type Question,
  type Verdict,
  verdictLimits,
} from './protocol.ts';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const readLine = async (): Promise<string | undefined> => {
  const { value, done } = await lines.next();
  return done === true ? undefined : value;
};

/**
 * Prints a line and resolves when the line is written. The caller must wait for that, because output is not flushed
 * while SQLite runs.
 */
const say = (line: string): Promise<unknown> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, resolve));

const insertInto = (database: DatabaseSync, { name, primaryKey }: EntityContract) => {
  const table = `main.${quoteName(name)}`;
  const insert = database.prepare(`INSERT INTO ${table} (_key, payload) VALUES (?, ?)`);
  return (payload: string): void => {
    insert.run(keyFrom(JSON.parse(payload) as Row, primaryKey) ?? null, payload);
  };
};

const load = async (database: DatabaseSync, { entities, file }: Question): Promise<void> => {
  const upon = file === undefined ? undefined : attachBase(database, fileAddress(file), entities);
  const inserts = verifiedEntities(entities).map((entity) => insertInto(database, entity));
  const remove = (number: number, position: number): void => {
    const entity = entities[number];
    if (entity !== undefined) upon?.remove(entity, position);
  };
  database.exec('BEGIN');
  for (let line = await readLine(); line !== undefined; line = await readLine()) {
    const tab = line.indexOf('\t');
    const [start, rest] = [line.slice(0, tab), line.slice(tab + 1)];
    if (start.startsWith(gone)) remove(Number(start.slice(gone.length)), Number(rest));
    else inserts[Number(start)]?.(rest);
  }
  database.exec('COMMIT');
};

const readVerdict = (row: Record<string, unknown>, index: number): Verdict => {
  const { passed, name } = row;
  if (passed !== 0 && passed !== 1 && passed !== null) {
    const shown = JSON.stringify(passed)?.slice(0, 60);
    throw new Error(`row ${index + 1} has ${shown} as "passed", which must be 0 or 1`);
  }
  const words = name === null || name === undefined ? null : String(name);
  return { name: words?.slice(0, verdictLimits.nameChars) ?? null, passed: passed === 1 };
};

const runQuery = (database: DatabaseSync, source: string): Verdict[] => {
  const checks: Verdict[] = [];
  for (const row of database.prepare(source).iterate()) {
    if (checks.length === verdictLimits.rows) {
      throw new Error(`it returns more than ${verdictLimits.rows} rows`);
    }
    checks.push(readVerdict(row, checks.length));
  }
  return checks;
};

/** Error code of SQLite for a lack of memory (SQLITE_NOMEM). */
const sqliteNoMemory = 7;

const endOutOfMemory = (): never => {
  writeSync(2, outOfMemory);
  process.exit(1);
};

const judge = (database: DatabaseSync, { source, entities }: Question): Judged => {
  allowReadingOnly(database);
  const fault = findVerifierFault(source, database, entities);
  if (fault !== undefined) return { ok: false, message: fault.message };
  try {
    return { ok: true, checks: runQuery(database, source) };
  } catch (error) {
    if ((error as { errcode?: number }).errcode === sqliteNoMemory) endOutOfMemory();
    return { ok: false, message: (error as Error).message };
  }
};

// On Linux the kernel ends this process with its host, and the host watches its memory.
if (process.platform !== 'linux') {
  new Worker(new URL('watchdog.mts', import.meta.url), { workerData: process.argv[2] }).unref();
}
const question = JSON.parse((await readLine()) ?? 'null') as Question;
const database = openVerifierTables(question.entities);
await load(database, question);
await say(loaded);
await say(JSON.stringify(judge(database, question)));
process.exit();

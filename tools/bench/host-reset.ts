/**
 * Measures how long a host takes to reset a session after ten changes, in a small world and in a large one: the whole
 * call, with its answer (counts and digest) and the ledger emptied. Its floor is SQLite alone, rolling back to a
 * savepoint.
 */
import { DatabaseSync } from 'node:sqlite';
import { createLog } from '#runtime/log.ts';
import { runCall } from '../../world-host-image/call-kinds/run-call.ts';
import { type Figure, median } from './figure.ts';
import { item, openItems } from './items-world.ts';

const runs = 100;
const changes = 10;
const targetMs = 1;

/** Returns the ids of the rows that a run changes, spread over the whole table. */
const changedIds = (rows: number, run: number): number[] =>
  Array.from(
    { length: changes },
    (_, index) => (Math.floor((index * rows) / changes) + run) % rows,
  );

const measureReset = async (rows: number): Promise<number> => {
  const session = await openItems(rows);
  const log = createLog('bench', 'silent');
  const { store, code } = session.world;
  const digest = store.digest();
  const samples: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    for (const id of changedIds(rows, run)) {
      const call = { id: `call-${run}-${id}`, seq: 1, kind: 'tool', name: 'update_items' } as const;
      const { error } = await runCall(session, { ...call, input: { id, state: 'closed' } }, log);
      if (error !== undefined) throw new Error(`a change failed: ${error.message}`);
    }
    const startedAt = performance.now();
    const call = { id: `call-${run}`, seq: 1, kind: 'reset', name: null, input: {} } as const;
    const { output } = await runCall(session, call, log);
    samples.push(performance.now() - startedAt);
    const reached = (output as { digest: string } | undefined)?.digest;
    if (reached !== digest) throw new Error(`a reset led to ${reached}, not to ${digest}`);
  }
  session.ledger.close();
  store.close();
  await code.remove();
  return median(samples);
};

/** Measures the same changes to a bare table of as many rows, undone by SQLite alone. */
const measureFloor = (rows: number): number => {
  const db = new DatabaseSync(':memory:');
  db.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, payload TEXT NOT NULL);
    WITH RECURSIVE ids (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM ids WHERE id < ${rows - 1})
    INSERT INTO items SELECT id, '${JSON.stringify(item(0))}' FROM ids;
    BEGIN; SAVEPOINT task`);
  const update = db.prepare('UPDATE items SET payload = ? WHERE id = ?');
  const samples: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    for (const id of changedIds(rows, run)) update.run('{}', id);
    const startedAt = performance.now();
    db.exec('ROLLBACK TO task');
    samples.push(performance.now() - startedAt);
  }
  db.close();
  return median(samples);
};

const sizes = [
  ['host.reset', 1_000],
  ['host.reset.1m', 1_000_000],
] as const;

/** Measures a reset in a world of 1,000 rows and in one of 1,000,000, in milliseconds; median of 100. */
export const benchReset = async (wants: (name: string) => boolean): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, rows] of sizes) {
    if (!wants(name)) continue;
    const value = await measureReset(rows);
    const floor = measureFloor(rows);
    figures.push({ name, value, unit: 'ms', floor, peer: null, target: targetMs, better: 'lower' });
  }
  return figures;
};

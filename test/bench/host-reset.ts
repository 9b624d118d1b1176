/**
 * How long a host takes to put a session back after ten changes, in a small world and in a large one:
 * the whole call, as the host runs it, with its answer (counts and digest) and the ledger emptied. Its
 * floor is SQLite alone going back to a savepoint.
 */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Digest } from '#domain/world.ts';
import { machineClock } from '#domain/world-clock.ts';
import { encodeBundle } from '#language/artifacts/bundle.ts';
import { createLog } from '#runtime/log.ts';
import { openSnapshotFiles } from '#store/files/snapshot-files.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { runCall } from '../../world-host-image/calls/run-call.ts';
import { createWorldLoader } from '../../world-host-image/session/load-world.ts';
import { openSession } from '../../world-host-image/session/open-session.ts';
import type { Session } from '../../world-host-image/session/session.ts';
import { noUserCode } from '../../world-host-image/usercode/none.ts';
import { sampleContract, sampleEntity } from '../support/sample-contract.ts';
import { type Figure, median } from './figure.ts';

const runs = 100;
const changes = 10;
const targetMs = 1;

const fields = {
  id: { type: 'integer' },
  name: { type: 'string' },
  state: { type: 'string' },
  owner: { type: 'string' },
  size: { type: 'integer' },
  active: { type: 'boolean' },
  created_at: { type: 'string' },
};

const contract = sampleContract({
  entities: [sampleEntity('items', { properties: fields })],
  tools: [
    {
      name: 'update_items',
      input: { type: 'object' },
      output: {},
      binding: { kind: 'convention', verb: 'update', entity: 'items' },
    },
  ],
});

const item = (id: number) => ({
  id,
  name: `item ${id}`,
  state: 'open',
  owner: `owner ${id % 50}`,
  size: id % 1_000,
  active: true,
  created_at: '2026-01-01T00:00:00Z',
});

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** A session of a world of so many rows, as a host opens it. */
const openItems = (rows: number): Promise<Session> => {
  const items = Array.from({ length: rows }, (_, id) => item(id));
  const snapshot = buildSnapshot(contract, { items }).bytes;
  const bundle = encodeBundle({ contract, files: [] });
  const blobs = new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes]));
  const worlds = createWorldLoader({
    fetchBlob: async (digest) => blobs.get(digest) ?? new Uint8Array(),
    readBlob: async (digest) => blobs.get(digest) ?? new Uint8Array(),
    openFiles: () =>
      openSnapshotFiles({ folder: join(tmpdir(), 'svc-bench-snapshots'), mostBytes: 2 ** 31 }),
    userCode: noUserCode,
    workDir: tmpdir(),
    startUserCode: async () => ({ userCode: noUserCode, workDir: tmpdir() }),
  });
  return openSession(worlds, {
    sessionId: 'bench',
    generation: 0,
    sessionToken: 'bench',
    worldSlug: 'bench',
    bundle: digestOf(bundle),
    snapshot: digestOf(snapshot),
    blobs: {},
    task: null,
    surfaces: [],
    clock: machineClock,
    seed: null,
  });
};

/** The rows that a run changes lie all over the table. */
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

/** The same changes to a bare table of as many rows, undone by SQLite alone. */
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

/** Milliseconds of a reset in a world of 1,000 rows and in one of 1,000,000; median of 100. */
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

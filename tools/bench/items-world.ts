/**
 * A world of one entity, `items`, with a given number of rows, and a session of it in this process as a host opens it.
 * Benchmarks of a host's own work use it.
 */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Digest } from '#domain/world.ts';
import { machineClock } from '#domain/world-clock.ts';
import { encodeBundle } from '#language/artifacts/bundle.ts';
import { openSnapshotFiles } from '#store/files/snapshot-files.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { sampleContract, sampleEntity } from '../../test/support/worlds/sample-contract.ts';
import { WorldLoader } from '../../world-host-image/session/load-world.ts';
import { openSession } from '../../world-host-image/session/open-session.ts';
import type { Session } from '../../world-host-image/session/session.ts';
import { noUserCode } from '../../world-host-image/usercode/none.ts';

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

/** Returns the item of an id. */
export const item = (id: number) => ({
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

/** Opens a session of a world of this many rows, as a host does. */
export const openItems = (rows: number, task: TaskSpec | null = null): Promise<Session> => {
  const items = Array.from({ length: rows }, (_, id) => item(id));
  const snapshot = buildSnapshot(contract, { items }).bytes;
  const bundle = encodeBundle({ contract, files: [] });
  const blobs = new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes]));
  const worlds = new WorldLoader({
    fetchBlob: async (digest) => blobs.get(digest) ?? new Uint8Array(),
    readBlob: async (digest) => blobs.get(digest) ?? new Uint8Array(),
    openFiles: () =>
      openSnapshotFiles({ folder: join(tmpdir(), 'svc-bench-snapshots'), mostBytes: 2 ** 31 }),
    userCode: noUserCode,
    workDir: tmpdir(),
    startUserCode: async () => ({
      userCode: noUserCode,
      workDir: tmpdir(),
      end: async () => [],
    }),
  });
  return openSession(worlds, {
    sessionId: 'bench',
    generation: 0,
    sessionToken: 'bench',
    worldSlug: 'bench',
    bundle: digestOf(bundle),
    snapshot: digestOf(snapshot),
    blobs: {},
    task,
    surfaces: [],
    clock: machineClock,
    seed: null,
  });
};

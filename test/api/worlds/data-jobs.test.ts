/** Tests the jobs of imports: the order in which workers claim them, cancelled batches, and failing workers. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BatchState } from '#domain/batch.ts';
import { until } from '#runtime/pause.ts';
import { reap } from '#wire/pool-api/operations.ts';
import {
  cancelBatch,
  completeBatch,
  createBatch,
  createWorld,
  getWorld,
  publishData,
} from '#wire/public-api/operations.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import { chunkOf, senderTo } from '../../support/control/batches.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import {
  createGate,
  type Gate,
  type ImportWork,
  startImportWork,
} from '../../support/data/import-work.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let work: ImportWork;
let sender: ReturnType<typeof senderTo>;
let neighbour: Neighbour;
let desk: Desk;

beforeAll(async () => {
  control = await startNotesControl({ imports: { processes: 0 } });
  work = await startImportWork(control.config);
  sender = senderTo(control, 'notes');
  neighbour = await addNeighbour(control);
  desk = createDesk(control);
});

afterAll(async () => {
  desk.clear();
  await work.stop();
  await control.stop();
});

// Fails the batches that a failed test has left, so that the next test does not see them.
afterEach(async () => {
  await control.sql(
    `update data_batches set state = 'failed' where state in ('queued', 'validating', 'applying', 'applied')`,
  );
});

const params = { slug: 'notes' };
const head = async () => (await control.read(getWorld, { params })).body.version;
let last = 1_000;
/** Builds folders with ids that no other test uses. */
const folders = (count: number) =>
  Array.from({ length: count }, () => {
    last += 1;
    return { id: last, name: `folder ${last}` };
  });
const sealed = async (rows = folders(2), body = {}): Promise<string> => {
  const batchId = await sender.open(body);
  await sender.sendChunk(batchId, 0, chunkOf(rows, 'folders'));
  await sender.complete(batchId);
  return batchId;
};
const later = { publish: 'later' } as const;
/** Creates a batch whose rows are applied and not yet published. */
const applied = async (rows = folders(2)): Promise<string> => {
  const batchId = await sealed(rows, later);
  await work.run(await work.claimNext());
  expect((await sender.read(batchId)).state).toBe('applied');
  return batchId;
};
const tidy = () =>
  control.pool(reap, {
    body: { idleMs: 600_000, maxAgeMs: 600_000, provisionMs: 600_000, closingMs: 600_000 },
  });
const callOff = (batchId: string) => control.send(cancelBatch, { params: { ...params, batchId } });

describe('the next job to claim', () => {
  // Emptying an entity is a batch without chunks.
  const emptying = { mode: 'replace' as const, entities: ['notes'] };
  const world = async (slug: string): Promise<string> => {
    await control.send(createWorld, { body: { slug, from: encodeTree(notesWorld()) } });
    return slug;
  };
  const queued = async (slug: string): Promise<string> => {
    const { batchId } = (await control.send(createBatch, { params: { slug }, body: emptying }))
      .body;
    await control.send(completeBatch, { params: { slug, batchId } });
    return batchId;
  };
  const queuedByNeighbour = async (slug: string): Promise<string> => {
    const from = encodeTree(notesWorld());
    expect(await neighbour.ask('POST', '/worlds', { slug, from })).toMatchObject({ status: 201 });
    const opened = await neighbour.ask('POST', `/worlds/${slug}/data/batches`, emptying);
    const { batchId } = opened.body as { batchId: string };
    const path = `/worlds/${slug}/data/batches/${batchId}/complete`;
    expect(await neighbour.ask('POST', path, {})).toMatchObject({ body: { state: 'queued' } });
    return batchId;
  };

  it('belongs to the project with the fewest running jobs, however long other jobs have waited', async () => {
    const own = [];
    for (const slug of ['first', 'second', 'third']) own.push(await queued(await world(slug)));
    const theirs = await queuedByNeighbour('theirs');
    const order = [];
    for (let claims = 0; claims < 4; claims += 1) order.push((await work.claimNext()).id);
    expect(order).toEqual([own[0], theirs, own[1], own[2]]);
    expect(await work.claim()).toBeUndefined();
  });

  it('is a job whose lease expired, because its project has no other running job', async () => {
    const lost = await queued('first');
    expect((await work.claimNext()).id).toBe(lost);
    const theirs = await queuedByNeighbour('theirs-too');
    await control.sql(`update data_batches set lease_until = now() where id = $1`, [lost]);
    expect((await work.claimNext()).id).toBe(lost);
    expect((await work.claimNext()).id).toBe(theirs);
  });

  it('is never a job of a world that has a running import, even with concurrent claims', async () => {
    const before = await head();
    const [first, second] = [await sealed(folders(3)), await sealed(folders(4))];
    const other = await queued('second');
    const claims = await Promise.all(Array.from({ length: 8 }, () => work.claim()));
    const claimed = claims.filter((each) => each !== undefined);
    // Concurrent claims may find that another worker has taken the world that they chose.
    for (let more = await work.claim(); more !== undefined; more = await work.claim()) {
      claimed.push(more);
    }
    expect(claimed.map(({ id }) => id).sort()).toEqual([first, other].sort());
    const own = claimed.find(({ id }) => id === first);
    if (own === undefined) throw new Error('the first was not claimed');
    await work.run(own);
    const next = await work.claimNext();
    expect(next.id).toBe(second);
    await work.run(next);
    expect(await head()).toMatchObject({
      number: before.number + 2,
      entityCounts: { folders: (before.entityCounts.folders ?? 0) + 7 },
    });
  });
});

type Reached = {
  batchId: string;
  /** Lets the paused worker continue, and waits until its job has ended. */
  finish(): Promise<void>;
};

const letOn = (gate: Gate, job: Promise<void>) => async (): Promise<void> => {
  gate.open();
  await job;
};
const noFinish = async (): Promise<void> => undefined;

/** Brings a batch into each state in which it can be cancelled. */
const phases: Partial<Record<BatchState, () => Promise<Reached>>> = {
  open: async () => ({ batchId: await sender.open(), finish: noFinish }),
  uploading: async () => {
    const batchId = await sender.open();
    await sender.sendChunk(batchId, 0, chunkOf(folders(2), 'folders'));
    return { batchId, finish: noFinish };
  },
  queued: async () => ({ batchId: await sealed(), finish: noFinish }),
  validating: async () => {
    const batchId = await sealed();
    const gate = createGate();
    const job = work.run(await work.claimNext(), {
      blobs: (blobs) => ({
        read: async (digest) => {
          await gate.pass();
          return blobs.read(digest);
        },
      }),
    });
    await gate.reached;
    return { batchId, finish: letOn(gate, job) };
  },
  applying: async () => {
    const batchId = await sealed();
    const gate = createGate();
    const job = work.run(await work.claimNext(), {
      blobs: (blobs) => ({
        putFile: async (path) => {
          await gate.pass();
          return blobs.putFile(path);
        },
      }),
    });
    await gate.reached;
    const isApplying = async () => (await sender.read(batchId)).state === 'applying';
    await until(isApplying, { timeoutMs: 30_000, everyMs: 50, what: 'the batch to be applying' });
    return { batchId, finish: letOn(gate, job) };
  },
  applied: async () => ({ batchId: await applied(), finish: noFinish }),
};

const ways: Record<string, (batchId: string) => Promise<unknown>> = {
  'by its route': (batchId) => callOff(batchId),
  'by the command': async (batchId) => {
    const { status, out, err } = await desk.svc(`worlds data cancel notes ${batchId}`);
    expect(status, err).toBe(0);
    expect(out).toContain(`batch ${batchId} is cancelled`);
  },
};

const cases = Object.keys(phases).flatMap((state) => Object.keys(ways).map((way) => [state, way]));

describe('a cancelled import batch', () => {
  it.each(cases)(
    'that was %s, cancelled %s, leaves the world unchanged and stays cancelled',
    async (state, way) => {
      const before = await head();
      const reached = await phases[state as BatchState]?.();
      if (reached === undefined) throw new Error(`no way to ${state}`);
      const { batchId, finish } = reached;
      expect((await sender.read(batchId)).state).toBe(state);
      await ways[way]?.(batchId);
      const off = { state: 'failed', error: { code: 'cancelled' }, versionId: null };
      expect(await sender.read(batchId)).toMatchObject(off);
      await finish();
      await tidy();
      expect(await sender.read(batchId)).toMatchObject(off);
      expect(await work.claim()).toBeUndefined();
      expect(await head()).toEqual(before);
      await expect(control.send(publishData, { params, body: {} })).rejects.toMatchObject({
        code: 'conflict',
      });
      const held = await control.sql(
        `select id from uploads where began_at > '-infinity' and id not in (select id from data_chunks)
          or id in (select id from data_chunks where batch_id = $1) and began_at > '-infinity'`,
        [batchId],
      );
      expect(held).toEqual([]);
      // A second cancel changes nothing.
      await callOff(batchId);
      expect(await sender.read(batchId)).toMatchObject(off);
    },
  );

  it('cannot be cancelled once it is refused or published, and the error names its state', async () => {
    const refused = await sealed([{ id: 1, name: 'is there' }]);
    await work.run(await work.claimNext());
    const published = await sealed();
    await work.run(await work.claimNext());
    const before = await head();
    for (const [batchId, state] of [
      [refused, 'refused'],
      [published, 'published'],
    ] as const) {
      const said = `${batchId} is ${state}, and can no longer be cancelled`;
      await expect(callOff(batchId)).rejects.toMatchObject({ code: 'conflict', message: said });
      const { status, err } = await desk.svc(`worlds data cancel notes ${batchId}`);
      expect([status, err]).toEqual([1, expect.stringContaining(said)]);
      expect((await sender.read(batchId)).state).toBe(state);
    }
    expect(await head()).toEqual(before);
  });

  it('is left out when a batch that ran on top of it during the cancel is published', async () => {
    const before = await head();
    const off = await applied(folders(5));
    const stays = await sealed(folders(2), later);
    const gate = createGate();
    const job = work.run(await work.claimNext(), {
      blobs: (blobs) => ({
        putFile: async (path) => {
          await gate.pass();
          return blobs.putFile(path);
        },
      }),
    });
    await gate.reached;
    await callOff(off);
    gate.open();
    await job;
    expect((await sender.read(stays)).state).toBe('applied');
    const publishing = control.send(publishData, { params, body: {} });
    const claimed = await until(() => work.claim(), {
      timeoutMs: 30_000,
      everyMs: 50,
      what: 'the publish to wait',
    });
    await work.run(claimed);
    expect((await publishing).body).toMatchObject({ batches: [stays] });
    const after = await head();
    expect(after.entityCounts.folders).toBe((before.entityCounts.folders ?? 0) + 2);
  });

  it('that is completed again runs once, on the new worker only', async () => {
    const before = await head();
    const batchId = await sealed(folders(3));
    const gate = createGate();
    const slow = work.run(await work.claimNext(), {
      blobs: (blobs) => ({
        putFile: async (path) => {
          await gate.pass();
          return blobs.putFile(path);
        },
      }),
    });
    await gate.reached;
    await callOff(batchId);
    await sender.complete(batchId);
    const next = await work.claimNext();
    expect(next.id).toBe(batchId);
    const [quick] = await Promise.all([work.run(next), gate.open(), slow]);
    expect(quick).toBeUndefined();
    expect(await sender.read(batchId)).toMatchObject({ state: 'published', rowCount: 3 });
    const after = await head();
    expect(after.number).toBe(before.number + 1);
    expect(after.entityCounts.folders).toBe((before.entityCounts.folders ?? 0) + 3);
  });
});

describe('an import worker', () => {
  const rested = () => control.sql('update data_batches set lease_until = now()');

  it('that cannot create its work folder leaves its batch to another worker', async () => {
    const before = await head();
    const batchId = await sealed(folders(2));
    const file = join(desk.folder, 'no-folder');
    await writeFile(file, '');
    await work.run(await work.claimNext(), { folder: file });
    expect(await sender.read(batchId)).toMatchObject({ state: 'validating', error: null });
    await rested();
    const again = await work.claimNext();
    expect(again).toMatchObject({ id: batchId, attempts: 2 });
    await work.run(again);
    expect((await sender.read(batchId)).state).toBe('published');
    expect((await head()).number).toBe(before.number + 1);
  });

  it('that starts removes the folders of attempts that have ended, and no others', async () => {
    const done = await applied();
    await sealed();
    const { id, owner } = await work.claimNext();
    const folder = join(control.config.workDir, 'left');
    const names = {
      over: `${done}.${randomUUID()}`,
      former: `${id}.${randomUUID()}`,
      underWay: `${id}.${owner}`,
      // Another installation may use the same folder.
      unknown: `bat-unknown.${randomUUID()}`,
      pushed: `push-${randomUUID()}`,
    };
    for (const name of Object.values(names)) {
      await mkdir(join(folder, name), { recursive: true });
    }
    await work.removeDead(folder);
    const { underWay, unknown, pushed } = names;
    expect((await readdir(folder)).sort()).toEqual([underWay, unknown, pushed].sort());
  });

  it('gives up a batch after the maximum number of interrupted attempts, and it can be completed again', async () => {
    const before = await head();
    const batchId = await sealed(folders(2));
    await control.sql('update data_batches set attempts = 25 where id = $1', [batchId]);
    await work.run(await work.claimNext());
    expect(await sender.read(batchId)).toMatchObject({
      state: 'failed',
      error: { code: 'internal', message: expect.stringContaining('complete it again') },
    });
    expect(await head()).toEqual(before);
    await sender.complete(batchId);
    await work.run(await work.claimNext());
    expect((await sender.read(batchId)).state).toBe('published');
  });
});

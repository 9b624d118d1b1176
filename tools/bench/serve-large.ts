/**
 * Compares the times of calls in a world of a million rows with those in a world of a thousand rows. Both are measured
 * in the host, from the call to its answer, in one run.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Digest } from '#domain/world.ts';
import { machineClock } from '#domain/world-clock.ts';
import { encodeBundle } from '#language/artifacts/bundle.ts';
import type { Contract, Row } from '#language/contract.ts';
import { createLog } from '#runtime/log.ts';
import { openSnapshotFiles } from '#store/files/snapshot-files.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { runCall } from '../../world-host-image/call-kinds/run-call.ts';
import { WorldLoader } from '../../world-host-image/session/load-world.ts';
import { openSession } from '../../world-host-image/session/open-session.ts';
import type { Session } from '../../world-host-image/session/session.ts';
import { noUserCode } from '../../world-host-image/usercode/none.ts';
import { type Figure, median, sample } from './figure.ts';
import { folders, type LargeWorld, noteOf, rows } from './large-world.ts';

const runs = 300;
const fewRows = 1_000;
/**
 * Target of a figure, as a multiple of the small world's time; and below it, the shortest time that a clock measures
 * reliably.
 */
const targetTimes = 2;
const leastMs = 0.25;
/**
 * Target of a reset, in milliseconds. It is a figure of its own, since a reset restores pages, and ten rows of a large
 * world are on more pages.
 */
const resetMs = 1;

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Returns the contract with a tool for each verb. */
const withTools = (contract: Contract): Contract => ({
  ...contract,
  tools: (['get', 'list', 'create', 'update'] as const).map((verb) => ({
    name: verb,
    input: { type: 'object' },
    output: {},
    binding: { kind: 'convention', verb, entity: 'notes' },
  })),
});

const openOn = async (
  contract: Contract,
  snapshot: Uint8Array,
  folder: string,
): Promise<Session> => {
  const bundle = encodeBundle({ contract, files: [] });
  const blobs = new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes]));
  const read = async (digest: Digest): Promise<Uint8Array> => blobs.get(digest) ?? new Uint8Array();
  const worlds = new WorldLoader({
    fetchBlob: read,
    readBlob: read,
    openFiles: () => openSnapshotFiles({ folder, mostBytes: 2 ** 31 }),
    userCode: noUserCode,
    workDir: folder,
    startUserCode: async () => ({
      userCode: noUserCode,
      workDir: folder,
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
    task: {
      name: 'bench',
      grader: { kind: 'assertions', checks: [{ name: 'it', entity: 'notes', where: { id: 5 } }] },
    },
    surfaces: [],
    clock: machineClock,
    seed: null,
  });
};

type Call = { kind: 'tool' | 'state' | 'grade' | 'reset'; name?: string; input?: Row };

/** Calls of each run, in a world of this many notes. */
const calls: Record<string, (run: number, count: number) => Call> = {
  get: (run, count) => ({ kind: 'tool', name: 'get', input: { id: 1 + ((run * 7_919) % count) } }),
  list: () => ({ kind: 'tool', name: 'list', input: { limit: 20 } }),
  find: (run) => ({
    kind: 'tool',
    name: 'list',
    input: { folder_id: 1 + ((run * 7) % folders), limit: 1 },
  }),
  create: (run, count) => ({
    kind: 'tool',
    name: 'create',
    input: { id: count + 1 + run, folder_id: 1, title: 'new', done: false },
  }),
  update: (run, count) => ({
    kind: 'tool',
    name: 'update',
    input: { id: 1 + ((run * 7_919) % count), done: true },
  }),
  state: () => ({ kind: 'state' }),
  page: () => ({ kind: 'state', input: { entity: 'notes', limit: 20 } }),
  grade: () => ({ kind: 'grade' }),
};

const measure = async (session: Session, count: number): Promise<Map<string, number>> => {
  const log = createLog('bench', 'silent');
  const run = async ({ kind, name = '', input = {} }: Call): Promise<void> => {
    const call = { id: 'call', seq: 1, kind, name: kind === 'tool' ? name : null, input };
    const { error } = await runCall(session, call, log);
    if (error !== undefined) throw new Error(`${kind} ${name} failed: ${error.message}`);
  };
  const found = new Map<string, number>();
  for (const [name, of] of Object.entries(calls)) {
    found.set(name, median(await sample(runs, (at) => run(of(at, count)))));
  }
  // A reset costs as much as was changed: ten rows, spread over the world.
  const resets: number[] = [];
  for (let at = 0; at < runs / 10; at += 1) {
    for (let row = 0; row < 10; row += 1) await run(calls.update?.(10 * at + row, count) as Call);
    resets.push(...(await sample(1, () => run({ kind: 'reset' }))));
  }
  found.set('reset', median(resets));
  session.ledger.close();
  session.world.store.close();
  return found;
};

/** Measures serving; the floor of each figure is the small world's. */
export const measureServing = async (
  world: LargeWorld,
  say: (line: string) => void,
): Promise<Figure[]> => {
  say('  calling its sessions, and those of a small world');
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-serve-'));
  try {
    const contract = withTools(world.contract);
    const few = {
      folders: Array.from({ length: folders }, (_, at) => ({
        id: at + 1,
        name: `folder ${at + 1}`,
      })),
      notes: Array.from({ length: fewRows }, (_, at) => JSON.parse(noteOf(at + 1)) as Row),
    };
    const small = await openOn(contract, buildSnapshot(contract, few).bytes, folder);
    const floors = await measure(small, fewRows);
    const large = await openOn(contract, readFileSync(world.snapshot), folder);
    return [...(await measure(large, rows))].map(([name, value]) => {
      const floor = floors.get(name) ?? Number.NaN;
      const target = name === 'reset' ? resetMs : Math.max(leastMs, targetTimes * floor);
      return {
        name: `serve.1m.${name}`,
        value,
        unit: 'ms',
        floor,
        peer: null,
        target,
        better: 'lower',
      };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
};

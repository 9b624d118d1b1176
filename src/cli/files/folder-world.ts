/**
 * Builds a folder into the world that a local program serves: the folder is compiled, its rows are packed, and one of
 * its tasks is started.
 */
import { createHash } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import type { Digest, TreeFile } from '#domain/world.ts';
import { machineClock } from '#domain/world-clock.ts';
import { encodeBundle, selectUserCode } from '#language/artifacts/bundle.ts';
import type { KnownRowFiles } from '#language/check/row-files.ts';
import { type CompileResult, replaceFiles } from '#language/compile/compile.ts';
import type { Contract, Row } from '#language/contract.ts';
import type { Task } from '#language/task.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import type { FolderWorld } from '#wire/program-lines/lines.ts';
import { specOfBundled } from '#wire/public-api/worlds/bundled-task.ts';

/** Session that the local program serves for a folder. It stays the same when the folder is rebuilt. */
export type FolderSession = {
  sessionId: string;
  token: string;
  link: string;
  /** Bundled task on which the session runs; undefined for none. */
  task: string | undefined;
  seed: number | null;
};

/** Compiled folder, for output and for the program that serves it. */
export type BuiltFolder = { contract: Contract; rows: number; world: FolderWorld };

type Blob = { sha256: Digest; bytes: Uint8Array };

/** Cache that the builds of a folder share. */
export type KeptOfFolder = {
  /** Row files that the last build compiled. */
  known: KnownRowFiles;
  /** Digests of blobs that the program was already given. */
  sent: Set<Digest>;
  /** Last snapshot, keyed by its inputs: most changes do not affect the rows. */
  snapshot?: { madeOf: string; blob: Blob; rows: number };
};

const blobOf = (bytes: Uint8Array): Blob => ({
  sha256: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
  bytes,
});

const findTask = (folder: string, { tasks }: Contract, name: string): Task => {
  const found = tasks.find((task) => task.name === name);
  if (found !== undefined) return found;
  const names = tasks.map((task) => task.name).join(', ');
  const others = names === '' ? 'it has no tasks' : `its tasks are ${names}`;
  throw new AppError('invalid', `${folder} has no task "${name}"; ${others}`);
};

const pageOf = ({ ui }: Contract, files: readonly TreeFile[]) => {
  if (ui === null) return [];
  const prefix = `${ui.static}/`;
  return files
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path, content }) => ({ path: path.slice(prefix.length), ...blobOf(content) }));
};

const snapshotOf = (
  contract: Contract,
  baseRows: Record<string, Row[]>,
  kept: KeptOfFolder,
): NonNullable<KeptOfFolder['snapshot']> => {
  const madeOf = JSON.stringify([contract.entities, contract.definitions, baseRows]);
  if (kept.snapshot?.madeOf === madeOf) return kept.snapshot;
  const { bytes, counts } = buildSnapshot(contract, baseRows, { areChecked: true });
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  kept.snapshot = { madeOf, blob: blobOf(bytes), rows };
  return kept.snapshot;
};

/**
 * Builds the world of a compiled tree. `kept` is the folder's cache, which the build updates. Throws `invalid` for a
 * task that the world does not have, and `StoreRefusal` if rows contradict one another.
 */
export const buildFolder = (
  folder: string,
  tree: readonly TreeFile[],
  compiled: Extract<CompileResult, { ok: true }>,
  { session, kept }: { session: FolderSession; kept: KeptOfFolder },
): BuiltFolder => {
  const { contract, baseRows, generated, rewritten } = compiled;
  const files = [...replaceFiles(tree, [...rewritten, ...generated])];
  const known = new Set(files.map(({ path }) => path));
  files.push(...generated.filter(({ path }) => !known.has(path)));
  const code = selectUserCode(contract, files);
  const task = session.task === undefined ? null : findTask(folder, contract, session.task);
  const { blob: snapshot, rows } = snapshotOf(contract, baseRows, kept);
  const bundle = blobOf(encodeBundle({ contract, files: code }));
  const page = pageOf(contract, files);
  const fresh = [bundle, snapshot, ...page].filter(({ sha256 }) => !kept.sent.has(sha256));
  for (const { sha256 } of fresh) kept.sent.add(sha256);
  return {
    contract,
    rows,
    world: {
      assignment: {
        sessionId: session.sessionId,
        generation: 1,
        sessionToken: session.token,
        worldSlug: contract.name,
        bundle: bundle.sha256,
        snapshot: snapshot.sha256,
        blobs: {},
        task: task === null ? null : specOfBundled(task),
        surfaces: contract.ui === null ? ['api'] : ['api', 'ui'],
        clock: machineClock,
        seed: session.seed,
        ...(contract.ui === null
          ? {}
          : {
              ui: {
                files: page.map(({ path, sha256, bytes }) => ({
                  path,
                  sha256,
                  sizeBytes: bytes.length,
                })),
              },
            }),
      },
      blobs: Object.fromEntries(
        fresh.map((blob) => [blob.sha256, Buffer.from(blob.bytes).toString('base64')]),
      ),
      hasCode: code.length > 0,
      link: session.link,
    },
  };
};

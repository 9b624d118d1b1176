/**
 * Loads a world version from its two blobs, and caches the version that was loaded last. If a warm host gets another
 * session of the same version, it need not fetch and open the version again.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import type { Digest, TreeFile } from '#domain/world.ts';
import { decodeBundle } from '#language/artifacts/bundle.ts';
import { createToolChecker } from '#language/schema/checkers.ts';
import type { SnapshotFiles } from '#store/files/snapshot-files.ts';
import { createRouter } from '../routes/router.ts';
import { noUserCode } from '../usercode/none.ts';
import { noPython } from '../usercode/python/python.ts';
import type { UserCode } from '../usercode/runner.ts';
import { openAuthorCode } from './author-code.ts';
import { createBaseRows } from './base-rows.ts';
import type { LoadedWorld } from './session.ts';

/**
 * World version, given by the digests of its two blobs, and the content in base64 of those blobs that came with the
 * assignment.
 */
export type WorldVersion = {
  bundle: Digest;
  snapshot: Digest;
  blobs: Readonly<Record<string, string>>;
};

type Part = 'bundle' | 'snapshot';

/**
 * Result of releasing the linked worlds: whether any of them had code, and the ids of their processes, which have
 * ended.
 */
export type ReleasedWorlds = { hadCode: boolean; pids: number[] };

type Workers = { userCode: UserCode; workDir: string };

export type WorldLoaderParts = {
  fetchBlob(digest: Digest): Promise<Uint8Array>;
  /** Reads a blob as a stream; used for a blob that may be large. */
  readBlob(digest: Digest): Promise<Readable | Uint8Array>;
  /** Opens the folder of unpacked snapshots. It is called when the first large world is loaded. */
  openFiles(): Promise<SnapshotFiles>;
  userCode: UserCode;
  workDir: string;
  /** Starts workers for the code of a linked world. */
  startUserCode(): Promise<Workers & { end(): Promise<number[]> }>;
};

const checkDigest = (digest: Digest, bytes: Uint8Array): Uint8Array => {
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (found === digest) return bytes;
  throw new AppError(
    'unavailable',
    `the bytes received for blob ${digest} have the digest ${found}`,
  );
};

/** Reads a blob. If the blob does not exist, throws an error that names the part of the world that is lost. */
const orLost = async <Value>(part: Part, read: Promise<Value>): Promise<Value> => {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'not_found')) throw error;
    throw new AppError('not_found', `the world's ${part} is lost: ${error.message}`);
  }
};

/** Throws `unavailable` if the world has code in Python and the host has no Python for its workers. */
const checkPython = (files: readonly TreeFile[], { userCode }: Workers): void => {
  const needsPython = files.find(({ path }) => path.endsWith('.py'));
  if (needsPython !== undefined && userCode.bounds.python === undefined) {
    throw new AppError('unavailable', `${needsPython.path} cannot run: ${noPython}`);
  }
};

/** Loads and caches the world of a session, and loads its linked worlds. */
export class WorldLoader {
  readonly #parts: WorldLoaderParts;
  readonly #openRows: ReturnType<typeof createBaseRows>;
  #cached: LoadedWorld | undefined;
  /**
   * Functions that each release one linked world. They return the ids of ended processes, or undefined if the linked
   * world had no code.
   */
  readonly #linked: (() => Promise<number[] | undefined>)[] = [];

  constructor(parts: WorldLoaderParts) {
    this.#parts = parts;
    this.#openRows = createBaseRows({ openFiles: parts.openFiles, check: checkDigest });
  }

  /** Returns the world in its base state (mark `base`). Throws if a blob does not match its digest. */
  async load(version: WorldVersion): Promise<LoadedWorld> {
    const cached = this.#cached;
    if (cached?.bundle === version.bundle && cached.snapshot === version.snapshot) return cached;
    await this.release();
    this.#cached = await this.#open(version, async () => this.#parts);
    return this.#cached;
  }

  /** Loads a linked world in its base state (mark `base`). If the world has code, it gets workers of its own. */
  async loadLinked(version: WorldVersion): Promise<LoadedWorld> {
    const { startUserCode, workDir } = this.#parts;
    let end: (() => Promise<number[]>) | undefined;
    const world = await this.#open(version, async (files) => {
      if (files.length === 0) return { userCode: noUserCode, workDir };
      const workers = await startUserCode();
      end = workers.end;
      return workers;
    });
    this.#linked.push(async () => {
      await world.closeStore();
      await world.code.remove();
      return end?.();
    });
    return world;
  }

  /** Removes all linked worlds: their rows, their workers, their folders. */
  async releaseLinked(): Promise<ReleasedWorlds> {
    const pids: number[] = [];
    let hadCode = false;
    for (;;) {
      const releaseOne = this.#linked.pop();
      if (releaseOne === undefined) return { hadCode, pids };
      const ended = await releaseOne();
      hadCode ||= ended !== undefined;
      pids.push(...(ended ?? []));
    }
  }

  /** Releases the cached world, if there is one. */
  async release(): Promise<void> {
    const world = this.#cached;
    this.#cached = undefined;
    await world?.closeStore();
    await world?.code.remove();
  }

  async #readBundle({ bundle, blobs }: WorldVersion): Promise<Uint8Array> {
    const text = blobs[bundle];
    const bytes =
      text === undefined
        ? await orLost('bundle', this.#parts.fetchBlob(bundle))
        : Buffer.from(text, 'base64');
    return checkDigest(bundle, bytes);
  }

  async #readSnapshot({ snapshot, blobs }: WorldVersion): Promise<Readable | Uint8Array> {
    const text = blobs[snapshot];
    return text === undefined
      ? orLost('snapshot', this.#parts.readBlob(snapshot))
      : Buffer.from(text, 'base64');
  }

  async #open(
    version: WorldVersion,
    workersFor: (files: readonly TreeFile[]) => Promise<Workers>,
  ): Promise<LoadedWorld> {
    const { bundle, snapshot } = version;
    let first: Promise<Readable | Uint8Array> | undefined = this.#readSnapshot(version);
    // The promise is awaited below; this prevents an earlier failure from being reported as unhandled.
    first.catch(() => undefined);
    const read = () => {
      const begun = first ?? this.#readSnapshot(version);
      first = undefined;
      return begun;
    };
    const { contract, files } = decodeBundle(await this.#readBundle(version));
    const { userCode, workDir } = await workersFor(files);
    checkPython(files, { userCode, workDir });
    const code = openAuthorCode({ userCode, workDir, files });
    const source = { digest: snapshot, read };
    const { store, release: closeStore } = await this.#openRows(contract, source);
    store.mark('base');
    return {
      bundle,
      snapshot,
      contract,
      store,
      closeStore,
      baseDigest: store.digest(),
      router: createRouter(contract.api?.routes ?? []),
      tools: createToolChecker(contract),
      code,
    };
  }
}

/**
 * Loads a world version from its two blobs, and caches the last one. A host that is kept warm then needs neither fetch
 * nor open it again.
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

/** Version as its two blobs, with the base64 of those that came with the assignment. */
export type WorldVersion = {
  bundle: Digest;
  snapshot: Digest;
  blobs: Readonly<Record<string, string>>;
};

type Part = 'bundle' | 'snapshot';

/** Released linked worlds: whether any had code, and the ids of their processes, which have ended. */
export type ReleasedBeside = { hadCode: boolean; pids: number[] };

type Workers = { userCode: UserCode; workDir: string };

export type WorldLoader = {
  /** Returns the world at its mark `base`. Throws if a blob does not match its digest. */
  load(version: WorldVersion): Promise<LoadedWorld>;
  /** Loads a further world beside the cached one, at its mark `base`. If it has code, it gets workers of its own. */
  loadBeside(version: WorldVersion): Promise<LoadedWorld>;
  /** Removes all worlds loaded beside: their rows, their workers, their folders. */
  releaseBeside(): Promise<ReleasedBeside>;
  /** Releases the cached world, if there is one. */
  release(): Promise<void>;
};

export type WorldLoaderParts = {
  fetchBlob(digest: Digest): Promise<Uint8Array>;
  /** Reads a blob as a stream, for one that may be large. */
  readBlob(digest: Digest): Promise<Readable | Uint8Array>;
  /** Opens the folder of unpacked snapshots; called when the first large world is loaded. */
  openFiles(): Promise<SnapshotFiles>;
  userCode: UserCode;
  workDir: string;
  /** Starts workers for the code of a world loaded beside the cached one. */
  startUserCode(): Promise<Workers & { end(): Promise<number[]> }>;
};

const checkDigest = (digest: Digest, bytes: Uint8Array): Uint8Array => {
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (found === digest) return bytes;
  throw new AppError('unavailable', `blob ${digest} came with the digest ${found}`);
};

export const createWorldLoader = ({
  fetchBlob,
  readBlob,
  openFiles,
  startUserCode,
  ...own
}: WorldLoaderParts): WorldLoader => {
  let held: LoadedWorld | undefined;
  /**
   * Functions that each release one world loaded beside. They return the ids of ended processes, or undefined if it
   * had no code.
   */
  const beside: (() => Promise<number[] | undefined>)[] = [];
  const openRows = createBaseRows({ openFiles, check: checkDigest });

  const orLost = async <Value>(part: Part, read: Promise<Value>): Promise<Value> => {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'not_found')) throw error;
      throw new AppError('not_found', `the world's ${part} is lost: ${error.message}`);
    }
  };

  const takeBundle = async ({ bundle, blobs }: WorldVersion): Promise<Uint8Array> => {
    const text = blobs[bundle];
    const bytes =
      text === undefined ? await orLost('bundle', fetchBlob(bundle)) : Buffer.from(text, 'base64');
    return checkDigest(bundle, bytes);
  };

  const readSnapshot = async ({ snapshot, blobs }: WorldVersion) => {
    const text = blobs[snapshot];
    return text === undefined
      ? orLost('snapshot', readBlob(snapshot))
      : Buffer.from(text, 'base64');
  };

  const release = async (): Promise<void> => {
    const world = held;
    held = undefined;
    await world?.closeStore();
    await world?.code.remove();
  };

  const open = async (
    version: WorldVersion,
    codeOf: (files: readonly TreeFile[]) => Promise<Workers>,
  ): Promise<LoadedWorld> => {
    const { bundle, snapshot } = version;
    let first: ReturnType<typeof readSnapshot> | undefined = readSnapshot(version);
    // It is awaited below; this keeps an earlier failure from being reported as unhandled.
    first.catch(() => undefined);
    const read = () => {
      const begun = first ?? readSnapshot(version);
      first = undefined;
      return begun;
    };
    const { contract, files } = decodeBundle(await takeBundle(version));
    const workers = await codeOf(files);
    const needsPython = files.find(({ path }) => path.endsWith('.py'));
    if (needsPython !== undefined && workers.userCode.bounds.python === undefined) {
      throw new AppError('unavailable', `${needsPython.path} cannot run: ${noPython}`);
    }
    const code = openAuthorCode({ ...workers, files });
    const { store, release: closeStore } = await openRows(contract, { digest: snapshot, read });
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
  };

  return {
    async load(version) {
      if (held?.bundle === version.bundle && held.snapshot === version.snapshot) return held;
      await release();
      held = await open(version, async () => own);
      return held;
    },
    async loadBeside(version) {
      let end: (() => Promise<number[]>) | undefined;
      const world = await open(version, async (files) => {
        if (files.length === 0) return { userCode: noUserCode, workDir: own.workDir };
        const workers = await startUserCode();
        end = workers.end;
        return workers;
      });
      beside.push(async () => {
        await world.closeStore();
        await world.code.remove();
        return end?.();
      });
      return world;
    },
    async releaseBeside() {
      const pids: number[] = [];
      let hadCode = false;
      for (let takeOut = beside.pop(); takeOut !== undefined; takeOut = beside.pop()) {
        const ended = await takeOut();
        hadCode ||= ended !== undefined;
        pids.push(...(ended ?? []));
      }
      return { hadCode, pids };
    },
    release,
  };
};

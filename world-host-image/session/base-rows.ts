/**
 * Opens the store of a version from its snapshot. A small snapshot is opened in memory. A large one is opened from a
 * file, which all hosts with the same snapshot folder share. A large snapshot is unpacked while it arrives, so it is
 * never in memory as a whole. Its first bytes state its size.
 */
import { Readable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import { unpackedBytes } from '#store/files/frame-size.ts';
import type { SnapshotFiles } from '#store/files/snapshot-files.ts';
import { openWorldStore, type WorldStore } from '#store/world-store.ts';

export type BaseRows = {
  store: WorldStore;
  /** Closes the store and releases its file. */
  release(): Promise<void>;
};

export type SnapshotSource = {
  digest: Digest;
  /** Starts reading the snapshot. If reading fails, it may be called again. */
  read(): Promise<Readable | Uint8Array>;
};

/** Unpacked size above which a snapshot is stored in a file instead of memory, in bytes. */
export const mostBytesInMemory = 16 * 2 ** 20;
/** Maximum number of attempts to read a snapshot to its end. */
const mostAttempts = 3;

/** Snapshot whose first bytes were read. */
type Begun = { isLarge: boolean; source: Readable | Uint8Array };

/**
 * Returns true if a snapshot is large. A snapshot that does not state its size was packed as a stream, which is done
 * only with large snapshots.
 */
const isLarge = (start: Uint8Array): boolean =>
  (unpackedBytes(start) ?? Number.POSITIVE_INFINITY) > mostBytesInMemory;

const begin = async (source: Readable | Uint8Array): Promise<Begun> => {
  if (source instanceof Uint8Array) return { isLarge: isLarge(source), source };
  const pieces = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const first = await pieces.next();
  const start = first.done === true ? new Uint8Array() : first.value;
  const rest = { [Symbol.asyncIterator]: () => pieces };
  const whole = async function* (): AsyncIterable<Uint8Array> {
    yield start;
    yield* rest;
  };
  return { isLarge: isLarge(start), source: Readable.from(whole(), { objectMode: false }) };
};

const collect = async (source: Readable | Uint8Array): Promise<Uint8Array> => {
  if (source instanceof Uint8Array) return source;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of source as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > 2 * mostBytesInMemory) {
      throw new AppError(
        'internal',
        'a packed snapshot is larger than the unpacked size that it states',
      );
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

const mayPass = (error: unknown): boolean =>
  !(error instanceof AppError) || error.code === 'unavailable';

export type BaseRowsParts = {
  /** Opens the folder of unpacked snapshots. It is called when the first large snapshot arrives. */
  openFiles(): Promise<SnapshotFiles>;
  /** Returns the bytes. Throws unless they have the digest. */
  check(digest: Digest, bytes: Uint8Array): Uint8Array;
};

/**
 * Returns a function that opens a store. That function throws any error of reading, and an `exhausted` error if the
 * disk has no space for the file.
 */
export const createBaseRows = ({ openFiles, check }: BaseRowsParts) => {
  const openUponFile = async (
    contract: Contract,
    { digest, read }: SnapshotSource,
    begun: Begun,
  ): Promise<BaseRows> => {
    const files = await openFiles();
    let source: Begun['source'] | undefined = begun.source;
    const readOn = async (): Promise<Readable | Uint8Array> => {
      const next = source ?? (await read());
      source = undefined;
      return next;
    };
    try {
      const file = await files.hold(digest, readOn);
      const store = openWorldStore({ contract, file: file.path });
      return {
        store,
        async release() {
          store.close();
          await file.release();
        },
      };
    } finally {
      if (source instanceof Readable) source.destroy();
    }
  };

  const openOnce = async (contract: Contract, snapshot: SnapshotSource): Promise<BaseRows> => {
    const begun = await begin(await snapshot.read());
    if (begun.isLarge) return openUponFile(contract, snapshot, begun);
    const bytes = check(snapshot.digest, await collect(begun.source));
    const store = openWorldStore({ contract, snapshot: bytes });
    return { store, release: async () => store.close() };
  };

  return async (contract: Contract, snapshot: SnapshotSource): Promise<BaseRows> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await openOnce(contract, snapshot);
      } catch (error) {
        if (attempt === mostAttempts || !mayPass(error)) throw error;
      }
    }
  };
};

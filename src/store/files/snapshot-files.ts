/**
 * Stores unpacked snapshots as files named by their digests, in one folder for all processes of a machine. Each
 * snapshot is unpacked once and mapped by every process that opens it, so the machine has its pages in memory once.
 *
 * A process that uses a file has a hard link of its own to it, so no other process can take the file away. Eviction
 * removes only the folder's own link, and only if no other is left. `holders.ts` removes the links of dead processes. A
 * file is written under another name and then linked to its final name, so a file with that name is always complete.
 * After a crash of the machine, the next start begins with an empty folder.
 */
import { randomUUID } from 'node:crypto';
import {
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import { makeSpace } from './eviction.ts';
import { isMissing, isThere, unless } from './file-errors.ts';
import { type Holders, joinHolders } from './holders.ts';
import { syncFile, unpackToFile } from './unpack.ts';

export type HeldFile = {
  /** Path of a SQLite database, see `open-file.ts`. Callers must not write to the file. */
  path: string;
  /** Releases the file; databases already open stay open. Must be called once. */
  release(): Promise<void>;
};

export type SnapshotFiles = {
  /**
   * Holds the file of a snapshot. If the file is missing, calls `read` for the blob. Throws `AppError`: `exhausted` if
   * the file exceeds the size budget, `internal` if the blob does not have this digest.
   */
  hold(digest: Digest, read: () => Promise<Readable | Uint8Array>): Promise<HeldFile>;
  /**
   * Holds a file derived from a snapshot's file, such as an index, under a name of its own. If the file is missing,
   * calls `write` to make it. Throws the errors of `write`, and `exhausted`.
   */
  holdMade(digest: Digest, name: string, write: (path: string) => Promise<void>): Promise<HeldFile>;
  /** Returns true if the snapshot's file exists, so that the blob need not be read. */
  has(digest: Digest): Promise<boolean>;
  /** Releases all files that this process holds. */
  close(): Promise<void>;
};

export type SnapshotFilesOptions = {
  folder: string;
  /**
   * Size budget of all files together, in bytes. Of the files that no process holds, the least recently used are
   * evicted first.
   */
  mostBytes: number;
  /** Size limit of one file, in bytes; absent: the budget of all files together. */
  mostFileBytes?: number | undefined;
};

type Grow = (bytes: number) => Promise<void>;
/**
 * Writes a file. It reports the growing size to the function that `growingOf` returns; `called` is the name of the file
 * in refusals.
 */
type Write = (path: string, growingOf: (called: string) => Grow) => Promise<void>;

/** Interval at which this process checks whether another one has finished unpacking, in milliseconds. */
const lookEveryMs = 20;
const bootIdFile = '/proc/sys/kernel/random/boot_id';
const bootFolder = /^boot-[0-9a-f-]{36}$/;
/**
 * Share of a file's size by which disk space is reserved ahead of what is written, so that the folder is measured only
 * a few times.
 */
const ahead = 1 / 8;

/** Modification time, in seconds, that marks a file as unchanged since it was unpacked. */
const asWritten = 1;

/** Records the time of use of a file, finer than milliseconds, so that the order of uses is known. */
const touch = (path: string): Promise<void> =>
  utimes(path, (performance.timeOrigin + performance.now()) / 1000, asWritten);

const fileName = (digest: Digest): string => digest.slice('sha256:'.length);

/** Returns the machine's boot id; undefined where the system has none. */
const bootId = async (): Promise<string | undefined> =>
  (await readFile(bootIdFile, 'utf8').catch(unless(isMissing)))?.trim();

/**
 * Returns the folder for this boot of the machine. Removes the folders of earlier boots, because their files may be
 * incomplete.
 */
const folderOfBoot = async (folder: string, boot: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (!bootFolder.test(name) || name === `boot-${boot}`) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
  return join(folder, `boot-${boot}`);
};

/** The folder as this process has opened it. */
type Opened = {
  folder: string;
  mostBytes: number;
  mostFileBytes: number;
  /**
   * Folder of the files, and folder of the names that are being written. Each of these names is a symbolic link whose
   * target is the name of the process that writes the file.
   */
  files: string;
  claims: string;
  holders: Holders;
};

/** Creates the links by which this process holds files. */
const createLinks = ({ files, holders }: Opened) => {
  /** Files that this process holds, by name, each with its number of holds. */
  const held = new Map<string, { path: string; times: number }>();
  return {
    /**
     * Holds the file if it exists. Each link has a name of its own, because an earlier link to the same file may be in
     * removal.
     */
    async take(name: string): Promise<HeldFile | undefined> {
      const file = join(files, name);
      const mine = held.get(name) ?? { path: join(holders.own, randomUUID()), times: 0 };
      held.set(name, mine);
      mine.times += 1;
      const release = async (): Promise<void> => {
        mine.times -= 1;
        if (mine.times > 0) return;
        if (held.get(name) === mine) held.delete(name);
        await rm(mine.path, { force: true });
      };
      try {
        await link(file, mine.path).catch(unless(isThere));
        if ((await stat(mine.path)).mtimeMs !== asWritten * 1000) {
          held.delete(name);
          await rm(file, { force: true });
          await release();
          return undefined;
        }
        await touch(mine.path);
        return { path: mine.path, release };
      } catch (error) {
        await release();
        return unless(isMissing)(error);
      }
    },
    /** Forgets all files; the links themselves are removed with the process's folder. */
    clear: () => held.clear(),
  };
};

/** Returns the function that reserves disk space for a file as it grows. `name` is the name of the file in refusals. */
const growing = (opened: Opened, name: string, path: string): Grow => {
  const { folder, files, holders, mostBytes, mostFileBytes } = opened;
  let reserved = 0;
  return async (size) => {
    if (size <= reserved) return;
    const bytes = Math.max(size, Math.min(Math.floor(size * (1 + ahead)), mostFileBytes));
    const living = await holders.living();
    if (!(await makeSpace({ files, holders: living, path, bytes, mostBytes }))) {
      const most = `${Math.floor(mostBytes / 2 ** 20)} MiB`;
      const message = `${name} does not fit into ${folder}, which may hold ${most}, beside those in use`;
      throw new AppError('exhausted', message);
    }
    reserved = bytes;
  };
};

/** Writes a file under a temporary name, and links it to its final name when it is complete. */
const make = async (opened: Opened, name: string, write: Write): Promise<void> => {
  const path = join(opened.holders.own, `${randomUUID()}.part`);
  try {
    await write(path, (called) => growing(opened, called, path));
    await touch(path);
    await link(path, join(opened.files, name)).catch(unless(isThere));
  } finally {
    await rm(path, { force: true });
  }
};

/**
 * Makes the file, unless another living process is making it; then waits briefly. When it returns, the caller should
 * check for the file again.
 */
const obtain = async (opened: Opened, name: string, write: Write): Promise<void> => {
  const { claims, holders } = opened;
  const claim = join(claims, name);
  const isMine = await symlink(holders.name, claim).then(() => true, unless(isThere));
  if (isMine) {
    try {
      await make(opened, name, write);
    } finally {
      await rm(claim, { force: true });
    }
    return;
  }
  const owner = await readlink(claim).catch(unless(isMissing));
  if (owner === undefined) return;
  if (holders.lives(owner)) await delay(lookEveryMs);
  else await rm(claim, { force: true });
};

/** Opens the folder for this process; creates the folder if it is missing. */
export const openSnapshotFiles = async ({
  folder,
  mostBytes,
  mostFileBytes = mostBytes,
}: SnapshotFilesOptions): Promise<SnapshotFiles> => {
  const boot = await bootId();
  const root = await folderOfBoot(folder, boot ?? 'any');
  const files = join(root, 'files');
  const claims = join(root, 'claims');
  for (const path of [files, claims]) await mkdir(path, { recursive: true, mode: 0o700 });
  const holders = await joinHolders(join(root, 'holders'));
  const opened: Opened = { folder, mostBytes, mostFileBytes, files, claims, holders };
  const links = createLinks(opened);
  const underWay = new Map<string, Promise<void>>();

  const run = async (name: string, write: Write): Promise<void> => {
    const running = obtain(opened, name, write);
    underWay.set(name, running);
    try {
      await running;
    } finally {
      underWay.delete(name);
    }
  };

  const hold = async (name: string, write: Write): Promise<HeldFile> => {
    for (;;) {
      const file = await links.take(name);
      if (file !== undefined) return file;
      const running = underWay.get(name);
      // If the read of another caller fails, this caller does not fail, but reads by itself.
      if (running !== undefined) await running.catch(() => undefined);
      else await run(name, write);
    }
  };

  const sync = boot === undefined;
  return {
    hold: (digest, read) =>
      hold(fileName(digest), async (path, growingOf) => {
        const source = await read();
        const grow = growingOf(`snapshot ${digest}`);
        await unpackToFile({ digest, source, path, mostBytes: mostFileBytes, grow, sync });
      }),
    holdMade: (digest, name, write) =>
      hold(`${fileName(digest)}.${name}`, async (path, growingOf) => {
        await write(path);
        await growingOf(`a file of snapshot ${digest}`)((await stat(path)).size);
        if (sync) await syncFile(path);
      }),
    has: async (digest) =>
      (await stat(join(files, fileName(digest))).catch(unless(isMissing))) !== undefined,
    async close() {
      links.clear();
      await holders.leave();
    },
  };
};

/**
 * Snapshots unpacked, as files under their digests, for all processes of a machine that use one folder. Each
 * is unpacked once, and mapped by whoever opens it, so that the machine holds its pages once.
 *
 * Whoever uses a file has a link of its own to it, so nobody can take it away: to make room removes the
 * folder's own link alone, and only where no other is left. The links of a process that is gone go with what
 * `holders.ts` finds of it. A file is written under another name and then linked, so that a digest has the
 * whole file or none; where the machine itself stops, the next start begins with an empty folder.
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
import { makeRoom } from './eviction.ts';
import { isMissing, isThere, unless } from './file-errors.ts';
import { joinHolders } from './holders.ts';
import { syncFile, unpackToFile } from './unpack.ts';

export type HeldFile = {
  /** A SQLite database, see `open-file.ts`. Nobody may write to it. */
  path: string;
  /** Lets go of the file; what is opened stays open. To be called once. */
  release(): Promise<void>;
};

export type SnapshotFiles = {
  /**
   * The file of a snapshot, which `read` is asked for where there is none yet. Throws `AppError`: `exhausted`
   * where it takes more than there may be, `internal` where what was read is not what the digest says.
   */
  hold(digest: Digest, read: () => Promise<Readable | Uint8Array>): Promise<HeldFile>;
  /**
   * A file that is made of that of a snapshot, by its name, such as an index; held as that one is. `write` is asked
   * for it where there is none. Throws what that throws, and `exhausted`.
   */
  holdMade(digest: Digest, name: string, write: (path: string) => Promise<void>): Promise<HeldFile>;
  /** Whether a file is there that need not be read. */
  has(digest: Digest): Promise<boolean>;
  /** Lets go of all. */
  close(): Promise<void>;
};

export type SnapshotFilesOptions = {
  folder: string;
  /** Of all files; those that nobody holds make room, those first that were not used for longest. */
  mostBytes: number;
  /** Of one file; as many as of all unless it is given. */
  mostFileBytes?: number | undefined;
};

type Grow = (bytes: number) => Promise<void>;
/** Writes a file; what it comes to is told as it grows, of what is named so in refusals. */
type Write = (path: string, growingOf: (called: string) => Grow) => Promise<void>;

/** How often to look whether another process is done with unpacking. */
const lookEveryMs = 20;
const bootIdFile = '/proc/sys/kernel/random/boot_id';
const bootFolder = /^boot-[0-9a-f-]{36}$/;
/** Room is asked for ahead of what is written, so that it is looked for a few times only. */
const ahead = 1 / 8;

/** The time of change of a file that nobody wrote to since it was unpacked, in seconds. */
const asWritten = 1;

/** Notes that a file is used now, finer than milliseconds: it tells which of two was used last. */
const touch = (path: string): Promise<void> =>
  utimes(path, (performance.timeOrigin + performance.now()) / 1000, asWritten);

const fileName = (digest: Digest): string => digest.slice('sha256:'.length);

/** Names the time since the machine started, where it tells. */
const bootId = async (): Promise<string | undefined> =>
  (await readFile(bootIdFile, 'utf8').catch(unless(isMissing)))?.trim();

/** The folder of this start of the machine. Removes those of earlier ones, of which no file may be whole. */
const folderOfBoot = async (folder: string, boot: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (!bootFolder.test(name) || name === `boot-${boot}`) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
  return join(folder, `boot-${boot}`);
};

/** Opens the folder, which is made where it is missing, for this process. */
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
  /** Files that this process holds, by their names, and how often. */
  const held = new Map<string, { path: string; times: number }>();
  const underWay = new Map<string, Promise<void>>();

  const pathOf = (name: string): string => join(files, name);

  /** Holds the file where it is there. Links of one file have different names, as one may be going. */
  const take = async (name: string): Promise<HeldFile | undefined> => {
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
      await link(pathOf(name), mine.path).catch(unless(isThere));
      if ((await stat(mine.path)).mtimeMs !== asWritten * 1000) {
        held.delete(name);
        await rm(pathOf(name), { force: true });
        await release();
        return undefined;
      }
      await touch(mine.path);
      return { path: mine.path, release };
    } catch (error) {
      await release();
      return unless(isMissing)(error);
    }
  };

  /** Finds room for what a file comes to, as it is written. */
  const growing = (name: string, path: string): Grow => {
    let room = 0;
    return async (size) => {
      if (size <= room) return;
      const bytes = Math.max(size, Math.min(Math.floor(size * (1 + ahead)), mostFileBytes));
      const living = await holders.living();
      if (!(await makeRoom({ files, holders: living, path, bytes, mostBytes }))) {
        const most = `${Math.floor(mostBytes / 2 ** 20)} MiB`;
        const message = `${name} does not fit into ${folder}, which may hold ${most}, beside those in use`;
        throw new AppError('exhausted', message);
      }
      room = bytes;
    };
  };

  /** Writes a file under a name of its own, and gives it its own name when it is whole. */
  const make = async (name: string, write: Write): Promise<void> => {
    const path = join(holders.own, `${randomUUID()}.part`);
    try {
      await write(path, (called) => growing(called, path));
      await touch(path);
      await link(path, pathOf(name)).catch(unless(isThere));
    } finally {
      await rm(path, { force: true });
    }
  };

  /** Makes it unless another process that lives does, and tells when there is news of it. */
  const obtain = async (name: string, write: Write): Promise<void> => {
    const claim = join(claims, name);
    const isMine = await symlink(holders.name, claim).then(() => true, unless(isThere));
    if (isMine) {
      try {
        await make(name, write);
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

  const run = async (name: string, write: Write): Promise<void> => {
    const running = obtain(name, write);
    underWay.set(name, running);
    try {
      await running;
    } finally {
      underWay.delete(name);
    }
  };

  const hold = async (name: string, write: Write): Promise<HeldFile> => {
    for (;;) {
      const file = await take(name);
      if (file !== undefined) return file;
      const running = underWay.get(name);
      // Who waits for another's reading does not fail with it, and reads for itself.
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
      (await stat(pathOf(fileName(digest))).catch(unless(isMissing))) !== undefined,
    async close() {
      held.clear();
      await holders.leave();
    },
  };
};

/**
 * Prevents two `svc up` on one data folder. The lock is a file with the id and the start time of its process. If that
 * process no longer runs, the lock is taken over.
 * If two processes take over the same lock, a claim file lets only one succeed: it is named after the lock and created
 * exclusively.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { AppError } from '#domain/error.ts';
import { cannotWrite } from './folder.ts';
import { processStart } from './processes.ts';

type LockHolder = { pid: number; start: string };

export type FolderLock = {
  /** True if the process that held the lock before did not end properly. */
  wasStale: boolean;
  /** Writes the address of the service into the lock, for the messages of other processes. */
  publishUrl(url: string): void;
  release(): void;
};

type LockText = LockHolder & { url?: string };

const readLock = (file: string): LockText | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LockText;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new AppError(
      'conflict',
      `cannot read the lock ${file}; if no svc up runs on its folder, remove the lock file`,
      {
        cause: error,
      },
    );
  }
};

const isHeld = ({ pid, start }: LockHolder): boolean => processStart(pid) === start;

const isSame = (a: LockHolder | undefined, b: LockHolder): boolean =>
  a?.pid === b.pid && a.start === b.start;

/** Writes a temporary file, and calls `place` to move it to its final path. Always removes the temporary file. */
const withDraft = <Value>(file: string, text: string, place: (draft: string) => Value): Value => {
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    return place(draft);
  } catch (cause) {
    throw cannotWrite(file, cause);
  } finally {
    rmSync(draft, { force: true });
  }
};

/** Creates a file with its contents in one step. Returns false if the file exists. */
const createWhole = (file: string, text: string): boolean =>
  withDraft(file, text, (draft) => {
    try {
      linkSync(draft, file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  });

const removeStale = (file: string, stale: LockHolder): void => {
  const claim = `${file}.claim-${stale.pid}-${stale.start}`;
  if (!createWhole(claim, '')) {
    throw new AppError('conflict', `another svc up is taking over ${file}; try again`, {
      detail: { hint: `if no other svc up is starting, remove ${claim}` },
    });
  }
  try {
    if (isSame(readLock(file), stale)) rmSync(file);
  } finally {
    rmSync(claim, { force: true });
  }
};

const alreadyRuns = (folder: string, { pid, url }: LockText): AppError =>
  new AppError(
    'conflict',
    `svc up already runs on ${folder} (process ${pid}${url === undefined ? '' : `, ${url}`})`,
    {
      detail: {
        hint: 'commands find the running service by themselves; stop it with Ctrl-C in its terminal, or start another with --data <folder> --port 0',
      },
    },
  );

/** Takes the lock of a folder for this process. Throws `conflict` if a running process holds it. */
export const takeLock = (
  file: string,
  folder: string,
  holder: LockHolder = { pid: process.pid, start: processStart(process.pid) ?? '' },
): FolderLock => {
  const write = (text: LockText): string => `${JSON.stringify(text)}\n`;
  let wasStale = false;
  while (!createWhole(file, write(holder))) {
    const found = readLock(file);
    if (found === undefined) continue;
    if (isHeld(found)) throw alreadyRuns(folder, found);
    removeStale(file, found);
    wasStale = true;
  }
  return {
    wasStale,
    publishUrl: (url) =>
      withDraft(file, write({ ...holder, url }), (draft) => renameSync(draft, file)),
    release() {
      if (isSame(readLock(file), holder)) rmSync(file);
    },
  };
};

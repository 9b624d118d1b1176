/**
 * What is noted of an import that is under way, so that the same command goes on with it after an interruption:
 * its batch, and the chunks whose bytes were on their way. The note is a file beside the user's other state, one a
 * service, world, set of files and options; each line is written before what it says is done.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFoldersSync } from '#runtime/folders.ts';
import type { Context } from '../terminal/context.ts';
import { sha256Of } from './digest.ts';

export type ImportNote = {
  /** Of the request that opens the batch. */
  idempotencyKey: string;
  /** Whether a later command finds it. */
  isKept: boolean;
  /** Undefined until one was opened. */
  readonly batchId: string | undefined;
  noteBatch(id: string): void;
  /** Whether the bytes of a chunk were on their way before this command. */
  wasBegun(digest: string): boolean;
  noteBegun(digest: string): void;
  /** The import is over. */
  forget(): void;
};

/** What nobody can go on with, as its rows come but once, or there is no place for notes. */
const unnoted = (): ImportNote => {
  let batchId: string | undefined;
  return {
    idempotencyKey: randomUUID(),
    isKept: false,
    get batchId() {
      return batchId;
    },
    noteBatch(id) {
      batchId = id;
    },
    wasBegun: () => false,
    noteBegun: () => undefined,
    forget: () => undefined,
  };
};

const stateFolder = ({ env }: Context): string | undefined => {
  const home = env.HOME || env.USERPROFILE;
  const state = env.XDG_STATE_HOME || (home && join(home, '.local', 'state'));
  return state ? join(state, 'svc', 'imports') : undefined;
};

type Line = { key?: unknown; batch?: unknown; begun?: unknown };

const readLines = (path: string): Line[] => {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line): Line[] => {
    try {
      return [JSON.parse(line) as Line];
    } catch {
      return []; // the end of one that was cut off
    }
  });
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The note of an import that `identity` tells from all others; undefined for one that cannot be gone on with. */
export const openNote = (context: Context, identity: unknown): ImportNote => {
  const folder = identity === undefined ? undefined : stateFolder(context);
  if (folder === undefined) return unnoted();
  const path = join(folder, `${sha256Of(Buffer.from(JSON.stringify(identity)))}.jsonl`);
  const lines = readLines(path);
  const write = (line: Line): void => appendFileSync(path, `${JSON.stringify(line)}\n`);
  let key = textOf(lines.find((line) => textOf(line.key) !== undefined)?.key);
  if (key === undefined) {
    key = randomUUID();
    try {
      makeFoldersSync(folder, { mode: 0o700 });
      write({ key });
    } catch {
      return unnoted();
    }
  }
  const begun = new Set(lines.map((line) => textOf(line.begun)));
  let batchId = textOf(lines.findLast((line) => textOf(line.batch) !== undefined)?.batch);
  return {
    idempotencyKey: key,
    isKept: true,
    get batchId() {
      return batchId;
    },
    noteBatch(id) {
      if (id !== batchId) write({ batch: id });
      batchId = id;
    },
    wasBegun: (digest) => begun.has(digest),
    noteBegun: (digest) => write({ begun: digest }),
    forget: () => rmSync(path, { force: true }),
  };
};

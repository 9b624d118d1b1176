/**
 * Journal of an import in progress, from which the same command continues after an interruption. It contains the batch
 * and the chunks whose upload had begun. The journal is a file in the user's state folder, one for each combination of
 * service, world, files and options. A line is written before the step that it names is taken.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFoldersSync } from '#runtime/folders.ts';
import type { Context } from '../terminal/context.ts';
import { sha256Of } from './digest.ts';

export type ImportNote = {
  /** Idempotency key of the request that opens the batch. */
  idempotencyKey: string;
  /** True if the journal is stored, so that a later command can find it. */
  isKept: boolean;
  /** Batch of the import; undefined until one was opened. */
  readonly batchId: string | undefined;
  noteBatch(id: string): void;
  /** Returns true if an earlier command had already begun to upload the chunk. */
  wasBegun(digest: string): boolean;
  noteBegun(digest: string): void;
  /** Removes the journal, because the import has ended. */
  forget(): void;
};

/** Creates a journal that is not stored, because the rows cannot be read again or there is no state folder. */
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
      return []; // the last line of an interrupted write
    }
  });
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/**
 * Opens the journal of the import that `identity` identifies. If `identity` is undefined, the journal is not stored.
 */
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

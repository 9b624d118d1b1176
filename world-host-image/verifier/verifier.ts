/**
 * Runs a verifier, the SQL query that grades a task, over a copy of the session's rows in a process of its own. A query
 * can take arbitrarily long, and only the end of its process stops it. The rows are copied while nothing changes them;
 * after that, the query blocks no other work. The process is sandboxed like processes of user code, and the host
 * watches it.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Contract } from '#language/contract.ts';
import { verifiedEntities } from '#language/sql/verifier.ts';
import type { StoreReader } from '#store/assemble.ts';
import type { Reader } from '#store/read/read.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import { hostFolder } from '../host-folder.ts';
import { boundedNode, type ProcessBounds } from '../usercode/boundary/boundary.ts';
import { openGauge, watchProcess } from '../usercode/boundary/watch.ts';
import { gone, type Judged, loaded, outOfMemory, type Verdict } from './protocol.ts';

export type VerifierLimits = {
  /**
   * Time limit for sending the rows, and for loading them, in milliseconds. The next field is the time limit of the
   * query.
   */
  loadMs: number;
  queryMs: number;
};

const defaultLimits: VerifierLimits = { loadMs: 60_000, queryMs: 30_000 };

/**
 * Source of the rows to judge. If the store is based on the file that the verifier reads, only rows that may differ
 * from the file are sent.
 */
type RowSource = Pick<Reader, 'list'> & Partial<Pick<StoreReader, 'upon' | 'rowAt'>>;

export type Verifier = {
  /** Sends the rows to the process. Call it while nothing changes them. */
  copy(store: RowSource, ledger: Pick<Reader, 'list'>): Promise<void>;
  /** Runs the query on the copied rows. Throws `CallFailure` if the query fails, so that there is no verdict. */
  judge(): Promise<Verdict[]>;
  /** Kills the process, and resolves when it has ended. */
  end(): Promise<void>;
};

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const program = join(hostFolder, 'verifier/process.mts');
const rowsAtOnce = 500;

/** Memory limit of the process, in MiB, if the host's memory is not known. */
const defaultMemoryMb = 256;
/** Share of the host's memory that verifier processes may take; idle workers need the rest. */
const memoryShare = 2 / 3;

/** Returns the memory limit of the process, in MiB, including what Node itself needs. */
const memoryLimitOf = ({ memory }: ProcessBounds): number =>
  memory === undefined ? defaultMemoryMb : Math.floor(memory.mb * memoryShare);

/** Folders that the program is loaded from, both for a source tree and for a bundle. */
const readable = [
  hostFolder,
  ...['src', 'node_modules'].map((name) => join(hostFolder, '..', name)),
];

const startProcess = (bounds: ProcessBounds, memoryMb: number, file: string | undefined): Child => {
  const node = ['--disable-warning=ExperimentalWarning', program, String(memoryMb)];
  const files = file === undefined ? readable : [...readable, file];
  const bounded = { ...bounds, keep: 3, memoryMb, readable: files, node };
  const { command, arguments: words } = boundedNode(bounded);
  const child = spawn(command, words, {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A broken pipe only means that the process is ending; its exit reports how.
  child.stdin.on('error', () => undefined);
  return child;
};

/** Writes a text. If the pipe is full, waits until there is space in it, or until it is closed. */
const write = async ({ stdin }: Child, text: string): Promise<void> => {
  if (!stdin.writable || stdin.write(text)) return;
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(stdin, 'drain', { signal }), once(stdin, 'close', { signal })]);
  settled.abort();
};

/**
 * Sends rows page by page, by position, so that the cost of each page depends only on its own rows. Other work can run
 * between pages.
 */
const sendRows = async (
  child: Child,
  number: number,
  entity: string,
  source: Pick<Reader, 'list'>,
  behind?: number,
): Promise<void> => {
  let after = behind;
  for (;;) {
    const page = source.list(entity, { after, limit: rowsAtOnce });
    await write(child, page.rows.map((row) => `${number}\t${row}\n`).join(''));
    if (!page.more) return;
    after = page.last;
    await setImmediate();
  }
};

/** Sends the rows that may differ from the file, and the rows that were added after the file's last row. */
const sendDifferences = async (
  child: Child,
  number: number,
  entity: string,
  { list, rowAt, upon }: RowSource,
): Promise<void> => {
  for (const position of upon?.of(entity) ?? []) {
    const payload = rowAt?.(entity, position);
    await write(child, `${gone}${number}\t${position}\n`);
    if (payload !== undefined) await write(child, `${number}\t${payload}\n`);
  }
  await sendRows(child, number, entity, { list }, upon?.last(entity));
};

const stopped = (what: string, ms: number): CallFailure =>
  new CallFailure({ code: 'timeout', message: `the verifier ${what} after ${ms / 1_000} s` });

const failed = (code: string, message: string): CallFailure =>
  new CallFailure({ code, message: `the verifier cannot grade: ${message}` });

/**
 * Makes a reader of the process's lines. Each line has a time limit; at the end of the output, the reader returns
 * undefined.
 */
const createLineReader = (child: Child) => {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (ms: number, what: string): Promise<string | undefined> => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(stopped(what, ms)), ms);
    try {
      const { value, done } = await Promise.race([lines.next(), late.promise]);
      return done === true ? undefined : value;
    } finally {
      clearTimeout(timer);
    }
  };
};

export type VerifierParts = {
  contract: Pick<Contract, 'entities'>;
  source: string;
  bounds: ProcessBounds;
  /** File that the store is based on, which the process reads. */
  file?: string | undefined;
  limits?: VerifierLimits | undefined;
};

/** Starts the process early, so that it is ready when the rows arrive. */
export const startVerifier = ({
  contract: { entities },
  source,
  bounds,
  file,
  limits = defaultLimits,
}: VerifierParts): Verifier => {
  const memoryMb = memoryLimitOf(bounds);
  const child = startProcess(bounds, memoryMb, file);
  const kill = (): void => void child.kill('SIGKILL');
  const gauge = openGauge(child.pid);
  let isFull = false;
  const onFull = (): void => {
    isFull = true;
    kill();
  };
  const leavePool = bounds.memory?.pool.join({ gauge, onFull });
  const most = { residentBytes: memoryMb * 1024 * 1024, threads: Number.POSITIVE_INFINITY };
  const watch = watchProcess(gauge, most, onFull, bounds.memory?.pool);
  const nextLine = createLineReader(child);
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk}`.slice(-2_000);
  });
  const failure = new Promise<CallFailure>((resolve) => {
    child.on('error', (error) => resolve(failed('crashed', error.message)));
    child.on('close', (status, signal) => {
      watch.stop();
      leavePool?.();
      gauge.close();
      if (isFull || signal === 'SIGKILL' || complaint.endsWith(outOfMemory)) {
        resolve(failed('crashed', `it took more than ${memoryMb} MiB of memory`));
      } else {
        resolve(failed('crashed', `its process ended with ${signal ?? `status ${status}`}`));
      }
    });
  });

  /** Reads a line. If the process ends instead, throws the failure. */
  const expectLine = async (ms: number, what: string): Promise<string> => {
    const line = await nextLine(ms, what);
    if (line === undefined) throw await failure;
    return line;
  };

  return {
    async copy(store, ledger) {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        kill();
      }, limits.loadMs);
      try {
        await write(child, `${JSON.stringify({ entities, source, file })}\n`);
        for (const [number, { name }] of verifiedEntities(entities).entries()) {
          if (number >= entities.length) await sendRows(child, number, name, ledger);
          else await sendDifferences(child, number, name, store);
        }
        child.stdin.end();
      } finally {
        clearTimeout(timer);
      }
      if (isLate) throw stopped('had not taken the rows', limits.loadMs);
    },
    async judge() {
      const line = await expectLine(limits.loadMs, 'had not loaded the rows');
      if (line !== loaded)
        throw failed('crashed', 'its process did not report that the rows are loaded');
      const answer = await expectLine(limits.queryMs, 'was stopped');
      const judged = JSON.parse(answer) as Judged;
      if (!judged.ok) throw failed('bad_verifier', judged.message);
      return judged.checks;
    },
    async end() {
      kill();
      await failure; // settles when the process is gone, even if it had answered
    },
  };
};

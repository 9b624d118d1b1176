/**
 * What the system says of a process that runs user code: its memory and its threads. The host asks while
 * the process works, and ends it when it is over its limits; the process itself has no say in it. Where
 * there is no /proc nothing is known, and nothing watched.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

export type Usage = {
  residentBytes: number;
  /** The part of that which it shares with nobody: programs and libraries are shared. */
  privateBytes: number;
  threads: number;
  /** Open files; 0 where the system does not say (Linux before 6.2). */
  descriptors: number;
};

export type Gauge = {
  /** Undefined when the process is gone, or the system does not say. */
  read(): Usage | undefined;
  close(): void;
};

const everyMs = 50;
const kibibyte = 1024;

let pageBytes: number | undefined;

/** The size of the pages that `statm` counts: told by a process whose size is known in both ways. */
const pageSize = (): number => {
  const [pages] = readFileSync('/proc/self/statm', 'latin1').split(' ');
  const [, size] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  const found = (Number(size) * kibibyte) / Number(pages);
  // The process may have grown between the two.
  return 2 ** Math.round(Math.log2(found));
};

/** The files that it reads stay open: they are of this process, whoever has its number later. */
export const openGauge = (pid: number | undefined): Gauge => {
  const files: number[] = [];
  const buffer = Buffer.alloc(256);
  try {
    for (const name of ['statm', 'task']) files.push(openSync(`/proc/${pid}/${name}`, 'r'));
    pageBytes ??= pageSize();
  } catch {
    for (const file of files.splice(0)) closeSync(file);
  }
  return {
    read() {
      const [statm, task] = files;
      if (statm === undefined || task === undefined) return undefined;
      try {
        const length = readSync(statm, buffer, { position: 0 });
        const [, resident = '', shared = ''] = buffer.toString('latin1', 0, length).split(' ');
        if (resident === '') return undefined;
        // A folder has a link for each folder in it, and two of its own.
        const threads = fstatSync(task).nlink - 2;
        const descriptors = statSync(`/proc/${pid}/fd`).size;
        const [residentBytes = 0, sharedBytes = 0] = [resident, shared].map(
          (pages) => Number(pages) * Number(pageBytes),
        );
        return { residentBytes, privateBytes: residentBytes - sharedBytes, threads, descriptors };
      } catch {
        return undefined;
      }
    },
    close() {
      for (const file of files.splice(0)) closeSync(file);
    },
  };
};

export type Over = 'out_of_memory' | 'too_many_threads';

type Member = { gauge: Gauge; onFull(): void };

/** Memory that the processes of a host share, each of which may be within its own limit. */
export type MemoryPool = {
  /** Counts a process, whatever it does, until the function is called. */
  join(member: Member): () => void;
  /** Where all together have more than there is, the one with most of it is told, and no other. */
  look(): void;
};

/** A pool of so much memory. */
export const createMemoryPool = (bytes: number): MemoryPool => {
  const members = new Set<Member>();
  return {
    join(member) {
      members.add(member);
      return () => void members.delete(member);
    },
    look() {
      const used = [...members].map((member) => ({
        member,
        bytes: member.gauge.read()?.privateBytes ?? 0,
      }));
      const sum = used.reduce((total, each) => total + each.bytes, 0);
      if (sum <= bytes) return;
      const [largest] = used.sort((a, b) => b.bytes - a.bytes);
      largest?.member.onFull();
    },
  };
};

/** Looks at a process until it is told to stop; says once that it is over a limit. */
export const watchProcess = (
  gauge: Gauge,
  limits: Pick<Usage, 'residentBytes' | 'threads'>,
  onOver: (over: Over) => void,
  pool?: MemoryPool,
): { stop(): void } => {
  const look = (): void => {
    pool?.look();
    const usage = gauge.read();
    const isFull = usage !== undefined && usage.residentBytes > limits.residentBytes;
    const isMany = usage !== undefined && usage.threads > limits.threads;
    if (!isFull && !isMany) return;
    clearInterval(timer);
    onOver(isFull ? 'out_of_memory' : 'too_many_threads');
  };
  const timer = setInterval(look, everyMs).unref();
  return { stop: () => clearInterval(timer) };
};

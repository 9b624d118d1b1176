/**
 * Measures a process that runs user code: its memory and its threads. The host samples the process while it works, and
 * ends it if it exceeds its limits; the process cannot influence that. Without /proc, nothing can be measured, and
 * these limits are not enforced.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

export type Usage = {
  residentBytes: number;
  /** Resident memory in bytes that no other process shares. Programs and libraries are shared, so they do not count. */
  privateBytes: number;
  threads: number;
  /** Number of open files; 0 if the system does not report the number (Linux before 6.2). */
  descriptors: number;
};

export type Gauge = {
  /** Returns the usage; undefined if the process has ended, or the system does not report it. */
  read(): Usage | undefined;
  close(): void;
};

const everyMs = 50;
const kibibyte = 1024;

let pageBytes: number | undefined;

/**
 * Returns the page size in bytes, the unit of `statm`. It is derived from this process's memory, which the system
 * reports in both units.
 */
const pageSize = (): number => {
  const [pages] = readFileSync('/proc/self/statm', 'latin1').split(' ');
  const [, size] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  const found = (Number(size) * kibibyte) / Number(pages);
  // The process may have grown between the two reads.
  return 2 ** Math.round(Math.log2(found));
};

/** Opens a gauge for a process. Its files stay open, so the gauge measures this process even if its id is reused. */
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

/** Memory that the processes of a host share. This limit applies in addition to the limit of each process. */
export type MemoryPool = {
  /** Counts a process, even while it is idle, until the returned function is called. */
  join(member: Member): () => void;
  /** Checks the pool. If all processes together exceed it, notifies only the process that uses most of it. */
  look(): void;
};

/** Makes a pool of `bytes` bytes. */
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

/** Samples a process until the watch is stopped. If the process exceeds a limit, reports that once. */
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

/**
 * What the system says of a process that runs user code: its memory and its threads. The host asks while
 * the process works, and ends it when it is over its limits; the process itself has no say in it. Where
 * there is no /proc nothing is known, and nothing watched.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

export type Usage = {
  residentBytes: number;
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
        const [, resident = ''] = buffer.toString('latin1', 0, length).split(' ');
        if (resident === '') return undefined;
        // A folder has a link for each folder in it, and two of its own.
        const threads = fstatSync(task).nlink - 2;
        const descriptors = statSync(`/proc/${pid}/fd`).size;
        return { residentBytes: Number(resident) * Number(pageBytes), threads, descriptors };
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

/** Looks at a process until it is told to stop; says once that it is over a limit. */
export const watchProcess = (
  gauge: Gauge,
  limits: Omit<Usage, 'descriptors'>,
  onOver: (over: Over) => void,
): { stop(): void } => {
  const look = (): void => {
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

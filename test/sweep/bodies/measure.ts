/**
 * Measures the cost of a process on this machine from the kernel's counters: processor time of all
 * its threads, and the peak growth of its memory. It works on Linux alone.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Returns the nanoseconds that the threads of a process have run. */
const ranNs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => {
      try {
        return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
      } catch {
        return 0; // The thread has just ended.
      }
    })
    .reduce((sum, ns) => sum + ns, 0);

const memoryBytes = (pid: number, line: 'VmHWM' | 'VmRSS'): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024;
};

export type Taken = { cpuMs: number; memoryBytes: number };

/** Starts a measurement; the returned function returns the cost since the start. */
export const measure = (pid: number): (() => Taken) => {
  // Resets the kernel's peak of memory.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = { ns: ranNs(pid), bytes: memoryBytes(pid, 'VmRSS') };
  return () => ({
    cpuMs: (ranNs(pid) - before.ns) / 1e6,
    memoryBytes: Math.max(0, memoryBytes(pid, 'VmHWM') - before.bytes),
  });
};

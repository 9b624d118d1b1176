/**
 * What a process of this machine takes, as the kernel counts it: processor time of all its threads, and
 * by how much its memory grew at most. Linux alone tells.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Nanoseconds that the threads of a process have run. */
const ranNs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => {
      try {
        return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
      } catch {
        return 0; // a thread that has just ended
      }
    })
    .reduce((sum, ns) => sum + ns, 0);

const memoryBytes = (pid: number, line: 'VmHWM' | 'VmRSS'): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024;
};

export type Taken = { cpuMs: number; memoryBytes: number };

/** Begins to measure; the answer tells what was taken since. */
export const measure = (pid: number): (() => Taken) => {
  // Forgets the most memory that there was so far.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = { ns: ranNs(pid), bytes: memoryBytes(pid, 'VmRSS') };
  return () => ({
    cpuMs: (ranNs(pid) - before.ns) / 1e6,
    memoryBytes: Math.max(0, memoryBytes(pid, 'VmHWM') - before.bytes),
  });
};

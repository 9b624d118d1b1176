/** How much of a processor another process of this machine has used, as Linux tells of it. */
import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second for programs, whatever the kernel does within. */
const msPerTick = 10;
/** Places of the time in user code and in the kernel, counted after the name, which may hold spaces. */
const [userPlace, kernelPlace] = [11, 12];

/** Milliseconds since the process began; undefined when the system does not tell. */
export const processorMsOf = (pid: number | undefined): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[userPlace]) + Number(fields[kernelPlace]);
    return Number.isFinite(ticks) ? ticks * msPerTick : undefined;
  } catch {
    return undefined; // it has ended, or this is no Linux
  }
};

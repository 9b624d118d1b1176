/**
 * Reuses compile processes among the control planes of a test process, which start one after the other. A process that
 * idles when its control plane stops is kept for the next one with the same limits, as each start takes half a second
 * of processor time. A busy one is ended, as usual.
 */
import {
  type CompileProcess,
  type StartCompileProcess,
  startCompileProcess,
} from '../../../src/control/worlds/compile/process.ts';

/** Maximum number of kept processes, over all limits; further ones are ended. */
const mostKept = 4;

const kept: { process: CompileProcess; limits: string }[] = [];

const take = (limits: string): CompileProcess | undefined => {
  const at = kept.findIndex((one) => one.limits === limits && one.process.isAlive());
  return at === -1 ? undefined : kept.splice(at, 1)[0]?.process;
};

/** Starts a compile process, or reuses a kept one. */
export const keptCompileProcess: StartCompileProcess = ({ timeLimitMs, memoryMb }) => {
  const limits = `${timeLimitMs} ms, ${memoryMb} MiB`;
  const process = take(limits) ?? startCompileProcess({ timeLimitMs, memoryMb });
  let jobs = 0;
  let isGone = false;
  return {
    isAlive: () => !isGone && process.isAlive(),
    async run(job, supply) {
      jobs += 1;
      try {
        return await process.run(job, supply);
      } finally {
        jobs -= 1;
      }
    },
    async kill() {
      if (isGone) return;
      isGone = true;
      const left = kept.filter((one) => one.process.isAlive());
      kept.splice(0, kept.length, ...left);
      if (jobs === 0 && process.isAlive() && kept.length < mostKept) {
        kept.push({ process, limits });
        return;
      }
      await process.kill();
    },
  };
};

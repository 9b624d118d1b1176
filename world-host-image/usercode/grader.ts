/**
 * One grade's own process, over a folder of its own: it shares nothing with the workers that the
 * session's code runs in, so nothing that code did to them can reach the verdict. It is started while
 * the copy of the state is made, runs one function, and is gone with its folder afterwards.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Log } from '#runtime/log.ts';
import { failed } from './exit.ts';
import type { RunRequest, RunResult, UserCodeLimits } from './run.ts';
import { startWorker, type WorkerKind } from './worker.ts';

export type Grader = {
  /** Its folder, empty at first; closed to all code but its own. */
  folder: string;
  /** The process, while there is one. */
  pid: number | undefined;
  /** Runs one function of the files in the folder. To be called once. */
  run(request: RunRequest): Promise<RunResult>;
  /** Kills the process, removes the folder, and resolves when both are gone. */
  end(): Promise<void>;
};

export type GraderParts = {
  /** How a process is started that reads nothing but a folder. */
  kindIn(folder: string): WorkerKind;
  /** What the name of the folder begins with; the rest of it is drawn. */
  prefix: string;
  limits: UserCodeLimits;
  log: Log;
};

const spokeOutOfTurn = (): RunResult =>
  failed('crashed', "the grader wrote to its process's own channel beside its answer");

/** Makes a grader in place of one that cannot be started here: its run answers with the reason. */
export const refusedGrader = (prefix: string, refusal: RunResult): Grader => {
  const folder = realpathSync(mkdtempSync(prefix));
  return {
    folder,
    pid: undefined,
    run: async () => refusal,
    end: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
};

/** Begins to start a process. A failure to start shows in its run. */
export const startGrader = ({ kindIn, prefix, limits, log }: GraderParts): Grader => {
  const folder = realpathSync(mkdtempSync(prefix));
  const worker = startWorker(kindIn(folder), limits, log);
  worker.ready.catch(() => undefined); // the run awaits it itself and meets the failure there
  return {
    folder,
    pid: worker.pid,
    async run(request) {
      await worker.ready;
      await worker.load(folder, false);
      const result = await worker.run(request);
      if (!result.ok) return result;
      // What it wrote after its answer would stand before the answer to this.
      return (await worker.load(folder, false)) ? result : spokeOutOfTurn();
    },
    async end() {
      await worker.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

/**
 * Runs one grade in a process and a folder of its own. It shares nothing with the workers that run the session's code,
 * so that code cannot influence the verdict. The process starts while the state is being copied, runs one function,
 * and is removed with its folder.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Log } from '#runtime/log.ts';
import { failed } from '../boundary/exit.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import type { RunRequest, RunResult, UserCodeLimits } from '../run.ts';
import { startWorker } from './worker.ts';

export type Grader = {
  /** Folder of the grader, empty at first; no other code can access it. */
  folder: string;
  /** Id of the process, if there is one. */
  pid: number | undefined;
  /** Runs one function of the files in the folder. May be called once. */
  run(request: RunRequest): Promise<RunResult>;
  /** Kills the process, removes the folder, and resolves when both are gone. */
  end(): Promise<void>;
};

export type GraderParts = {
  /** Returns how to start a process that may read nothing but this folder. */
  kindIn(folder: string): WorkerKind;
  /** Prefix of the folder's name; the rest is random. */
  prefix: string;
  limits: UserCodeLimits;
  log: Log;
};

const spokeOutOfTurn = (): RunResult =>
  failed('crashed', "the grader wrote to its process's own channel beside its answer");

/** Makes a grader that stands in for one that cannot be started here: its run returns the refusal. */
export const refusedGrader = (prefix: string, refusal: RunResult): Grader => {
  const folder = realpathSync(mkdtempSync(prefix));
  return {
    folder,
    pid: undefined,
    run: async () => refusal,
    end: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
};

/** Starts the process, without waiting for it. A failure to start shows in its run. */
export const startGrader = ({ kindIn, prefix, limits, log }: GraderParts): Grader => {
  const folder = realpathSync(mkdtempSync(prefix));
  const worker = startWorker(kindIn(folder), limits, log);
  worker.ready.catch(() => undefined); // `run` awaits it and receives the failure
  return {
    folder,
    pid: worker.pid,
    async run(request) {
      await worker.ready;
      await worker.load(folder, false);
      const result = await worker.run(request);
      if (!result.ok) return result;
      // Anything that the process wrote after its answer would arrive before the answer to this request.
      return (await worker.load(folder, false)) ? result : spokeOutOfTurn();
    },
    async end() {
      await worker.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

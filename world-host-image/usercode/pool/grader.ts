/**
 * Runs one grade in a process and a folder of its own. It shares nothing with the workers that run the session's code,
 * so that code cannot influence the verdict. The process starts while the state is being copied, and runs one function.
 * Then the process is ended and its folder removed.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Log } from '#runtime/log.ts';
import { failed } from '../boundary/exit.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import type { RunRequest, RunResult, UserCodeLimits } from '../run.ts';
import { Worker, type WorkerProcesses } from './worker.ts';

export type Grader = {
  /** Folder of the grader. It is empty at first, and no other code can access it. */
  folder: string;
  /** Process id; undefined if no process was started. */
  pid: number | undefined;
  /** Runs one function of the files in the folder. It may be called only once. */
  run(request: RunRequest): Promise<RunResult>;
  /** Kills the process, removes the folder, and resolves when both are gone. */
  end(): Promise<void>;
};

export type GradersOptions = {
  /** Folder for user code. Graders' folders are next to it, and their names begin with its name. */
  root: string;
  /** Result of every run of a grader whose language this host does not have. */
  refusal: RunResult;
  limits: UserCodeLimits;
  log: Log;
};

const spokeOutOfTurn = (): RunResult =>
  failed('crashed', 'the grader wrote to the channel on which its process sends the answer');

const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 });

/** Makes a substitute for a grader that cannot be started on this host; its run returns the refusal. */
const refusedGrader = (folder: string, refusal: RunResult): Grader => ({
  folder,
  pid: undefined,
  run: async () => refusal,
  end: () => removeFolder(folder),
});

/** Makes a grader from a worker that runs only this grade. If the worker fails to start, the run fails. */
const graderOn = (folder: string, worker: Worker): Grader => {
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
      await removeFolder(folder);
    },
  };
};

/** Starts graders, and keeps a list of those that have not ended. */
export class Graders {
  readonly #options: GradersOptions;
  readonly #live = new Set<Grader>();
  #startedPids: number[] = [];

  constructor(options: GradersOptions) {
    this.#options = options;
  }

  /**
   * Starts a grader's process without waiting for it. `kindIn` describes a worker that may read only the given folder;
   * it returns undefined for a language that this host does not have. `name` becomes part of the folder's name.
   */
  start(name: string, kindIn: (folder: string) => WorkerKind | undefined): Grader {
    const { root, refusal, limits, log } = this.#options;
    const folder = realpathSync(mkdtempSync(`${root}-${name}-`));
    const kind = kindIn(folder);
    const grader =
      kind === undefined
        ? refusedGrader(folder, refusal)
        : graderOn(folder, new Worker(kind, limits, log));
    if (grader.pid !== undefined) this.#startedPids.push(grader.pid);
    this.#live.add(grader);
    return {
      ...grader,
      end: async () => {
        await grader.end();
        this.#live.delete(grader);
      },
    };
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#live].map((grader) => grader.end()));
    this.#live.clear();
  }

  /** Returns the live processes of graders, and all that were started since `forgetStarted`. */
  pids(): WorkerProcesses {
    return {
      live: [...this.#live].flatMap(({ pid }) => pid ?? []),
      started: [...this.#startedPids],
    };
  }

  forgetStarted(): void {
    this.#startedPids = [];
  }
}

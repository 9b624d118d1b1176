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
import { Worker, type WorkerProcesses } from './worker.ts';

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

export type GradersOptions = {
  /** Folder for user code. Folders of graders have the same parent, and names that begin with its name. */
  root: string;
  /** Result of a grader in a language that this host does not have. */
  refusal: RunResult;
  limits: UserCodeLimits;
  log: Log;
};

const spokeOutOfTurn = (): RunResult =>
  failed('crashed', "the grader wrote to its process's own channel beside its answer");

const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 });

/** Makes a grader that stands in for one that cannot be started here: its run returns the refusal. */
const refusedGrader = (folder: string, refusal: RunResult): Grader => ({
  folder,
  pid: undefined,
  run: async () => refusal,
  end: () => removeFolder(folder),
});

/** Wraps the worker that runs nothing but one grade. A failure to start shows in its run. */
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

/** Starts graders, and knows those that have not ended. */
export class Graders {
  readonly #options: GradersOptions;
  readonly #live = new Set<Grader>();
  #startedPids: number[] = [];

  constructor(options: GradersOptions) {
    this.#options = options;
  }

  /**
   * Starts a grader's process without waiting for it. `kindIn` describes a worker that may read nothing but one folder;
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

  /** Returns their live processes, and all that were started since `forgetStarted`. */
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

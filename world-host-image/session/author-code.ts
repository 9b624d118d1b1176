/**
 * The user code of the world that is loaded: its files in a folder of their own, and the workers that
 * run them. Loading goes on beside everything else; a run waits for it, and a session's start where it is the first.
 * A grader is no part of it: it gets the same files in a folder and a process of its own.
 */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { makeFolders } from '#runtime/folders.ts';
import type { RunRequest, RunResult, UserLanguage } from '../usercode/run.ts';
import type { Grader, UserCode } from '../usercode/runner.ts';

export type AuthorCode = Pick<UserCode, 'bounds'> & {
  /** Waits until the code is loaded, then runs one function. */
  run(request: RunRequest): Promise<RunResult>;
  /**
   * Resolves once it is known whether the code can be imported; throws `invalid` with each file and line where it cannot.
   * Files that were once imported are not waited for again.
   */
  assertImports(): Promise<void>;
  /** Begins to start a process of its own over the world's files and the grader's. */
  openGrader(file: TreeFile): Pick<Grader, 'run' | 'end'>;
  /** The same for one run of tests. */
  openTester(
    files: readonly TreeFile[],
    language: UserLanguage,
    libraries: readonly string[],
  ): Pick<Grader, 'run' | 'end'>;
  /** Whether anything of a session may have reached it, so that `renew` has to start workers anew. */
  isReached(): boolean;
  /**
   * Fresh workers over a fresh folder; code of which nothing was run or graded is as loaded, and stays.
   * `prove` is done when nothing of the past can act any more and before anything new is made; it is
   * given the files that lie on disk by then, by their full paths. `isReached`: code of another world ran beside it,
   * which counts as if its own had run. Resolves when the workers are up.
   */
  renew(
    prove: (placed: readonly TreeFile[]) => Promise<void>,
    also?: { isReached: boolean },
  ): Promise<void>;
  /** Removes the folder; the workers stay. */
  remove(): Promise<void>;
};

export type AuthorCodeParts = {
  userCode: UserCode;
  /** Where code folders are made. */
  workDir: string;
  files: readonly TreeFile[];
};

let folders = 0;

const writeFiles = async (folder: string, files: readonly TreeFile[]): Promise<void> => {
  await makeFolders(folder);
  const parents = new Set(files.map(({ path }) => dirname(join(folder, path))));
  await Promise.all([...parents].map((parent) => makeFolders(parent)));
  await Promise.all(files.map(({ path, content }) => writeFile(join(folder, path), content)));
};

/** Begins to load the code. A failure shows in the runs that need it. */
export const openAuthorCode = ({ userCode, workDir, files }: AuthorCodeParts): AuthorCode => {
  let folder = '';
  let loaded: Promise<readonly string[]>;
  let wasImported = false;
  /**
   * Whether anything of a session may have reached the code: by a run, or because a grader's source lay
   * on the same disk, which is closed to the workers only where the system can do that.
   */
  let isReached = false;

  const load = (): void => {
    folders += 1;
    folder = join(workDir, `code-${folders}`);
    const target = folder;
    loaded = writeFiles(target, files).then(() => userCode.load(target));
    loaded.catch(() => undefined); // each run awaits `loaded` itself and meets the failure there
  };
  load();

  const remove = (path: string): Promise<void> =>
    rm(path, { recursive: true, force: true, maxRetries: 5 });

  /** Its own process over the world's files and some more. */
  const openApart = (grader: Grader, more: readonly TreeFile[]): Pick<Grader, 'run' | 'end'> => {
    isReached = true;
    const given = new Set(more.map(({ path }) => path));
    const others = files.filter(({ path }) => !given.has(path));
    const placed = writeFiles(grader.folder, [...others, ...more]);
    placed.catch(() => undefined); // the run awaits it itself and meets the failure there
    return {
      async run(request) {
        await placed;
        return grader.run(request);
      },
      async end() {
        await placed.catch(() => undefined);
        await grader.end();
      },
    };
  };

  return {
    bounds: userCode.bounds,
    isReached: () => isReached,
    async assertImports() {
      if (wasImported) return;
      const failures = await loaded;
      if (failures.length > 0) throw new AppError('invalid', failures.join('; '));
      wasImported = true;
    },
    async run(request) {
      isReached = true;
      await loaded;
      return userCode.run(request);
    },
    openGrader: (file) => openApart(userCode.startGrader(), [file]),
    openTester: (tests, language, libraries) =>
      openApart(userCode.startTester(language, libraries), tests),
    async renew(prove, also = { isReached: false }) {
      const isLoaded = await loaded.then(
        () => true,
        () => false, // the next session tries again
      );
      if (isLoaded && !isReached && !also.isReached) {
        return prove(files.map(({ path, content }) => ({ path: join(folder, path), content })));
      }
      await userCode.restart(async () => {
        await remove(folder);
        await prove([]);
      });
      isReached = false;
      load();
    },
    async remove() {
      await loaded.catch(() => undefined);
      await remove(folder);
    },
  };
};

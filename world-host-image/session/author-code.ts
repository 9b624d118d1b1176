/**
 * User code of the loaded world: its files in a folder of their own, and the workers that run them. The code is loaded
 * in the background. A run waits until the code is loaded, and so does the first session that uses these files. Graders
 * are separate: each has a folder with the same files and a process of its own.
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
   * Resolves once all files of the code have been imported. If an import fails, throws an `invalid` error with each
   * file and line. Files that were imported once are not checked again.
   */
  assertImports(): Promise<void>;
  /** Starts a separate process with the world's files and the file of the grader. */
  openGrader(file: TreeFile): Pick<Grader, 'run' | 'end'>;
  /** Starts a separate process with the world's files and the given files, for one run of tests. */
  openTester(
    files: readonly TreeFile[],
    language: UserLanguage,
    libraries: readonly string[],
  ): Pick<Grader, 'run' | 'end'>;
  /**
   * Returns true if code or data of a session may have come into contact with the workers, so that `renew` has to
   * restart them.
   */
  isReached(): boolean;
  /**
   * Restarts the workers over a fresh copy of the code. If nothing was run or graded, the loaded code stays. `prove`
   * runs after the old workers have ended and before new ones start; if the workers stay, it runs at once. `prove` gets
   * the files that are on disk at that time, by their full paths. `isReached` means that code of a linked world ran in
   * this host, which counts as if this world's code had run. Resolves when the workers run.
   */
  renew(
    prove: (placed: readonly TreeFile[]) => Promise<void>,
    also?: { isReached: boolean },
  ): Promise<void>;
  /** Removes the folder of the code; the workers continue. */
  remove(): Promise<void>;
};

export type AuthorCodeParts = {
  userCode: UserCode;
  /** Folder in which the folders for code are made. */
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

/** Starts loading the code. If loading fails, the runs that need the code fail with its error. */
export const openAuthorCode = ({ userCode, workDir, files }: AuthorCodeParts): AuthorCode => {
  let folder = '';
  let loaded: Promise<readonly string[]>;
  let wasImported = false;
  /**
   * True if code or data of a session may have come into contact with the workers: by a run, or because a grader's
   * source was on the same disk. Workers are isolated from that source only where the system supports it.
   */
  let isReached = false;

  const load = (): void => {
    folders += 1;
    folder = join(workDir, `code-${folders}`);
    const target = folder;
    loaded = writeFiles(target, files).then(() => userCode.load(target));
    loaded.catch(() => undefined); // each run awaits `loaded` itself and throws the failure
  };
  load();

  const remove = (path: string): Promise<void> =>
    rm(path, { recursive: true, force: true, maxRetries: 5 });

  /** Starts a separate process with the world's files and the files `more`, which replace files with the same path. */
  const openSeparate = (grader: Grader, more: readonly TreeFile[]): Pick<Grader, 'run' | 'end'> => {
    isReached = true;
    const given = new Set(more.map(({ path }) => path));
    const others = files.filter(({ path }) => !given.has(path));
    const placed = writeFiles(grader.folder, [...others, ...more]);
    placed.catch(() => undefined); // the run awaits it itself and throws the failure
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
    openGrader: (file) => openSeparate(userCode.startGrader(), [file]),
    openTester: (tests, language, libraries) =>
      openSeparate(userCode.startTester(language, libraries), tests),
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

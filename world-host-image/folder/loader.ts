/**
 * Loads worlds without a control plane: the bytes are in memory or in a folder, and workers for user code start only if
 * a world has user code.
 */
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import type { Log } from '#runtime/log.ts';
import { openSnapshotFiles, type SnapshotFiles } from '#store/files/snapshot-files.ts';
import { WorldLoader } from '../session/load-world.ts';
import { noUserCode } from '../usercode/none.ts';
import { startUserCode, type UserCode } from '../usercode/runner.ts';
import type { FolderConfig } from './config.ts';

export type OwnLoader = {
  /** Makes a loader for one world and the worlds linked to it. */
  open(hasCode: boolean): Promise<WorldLoader>;
  /** Returns the workers for user code; undefined if none were started. */
  code(): Promise<UserCode | undefined>;
  stop(): Promise<void>;
};

const snapshotBytes = 4 * 2 ** 30;

export type OwnLoaderParts = {
  config: Pick<FolderConfig, 'python' | 'searchPath' | 'boundary' | 'workDir'>;
  fetchBlob(digest: Digest): Promise<Uint8Array>;
  log: Log;
};

/** Makes the loader. It starts workers only when a world needs them. */
export const createOwnLoader = ({ config, fetchBlob, log }: OwnLoaderParts): OwnLoader => {
  let userCode: Promise<UserCode> | undefined;
  let files: Promise<SnapshotFiles> | undefined;
  const codeDir = `${config.workDir}/code`;

  const codeOf = async (hasCode: boolean): Promise<UserCode> => {
    if (!hasCode) return noUserCode;
    const { python, searchPath, boundary } = config;
    userCode ??= startUserCode({ python, searchPath, boundary, workDir: codeDir, log });
    try {
      return await userCode;
    } catch (error) {
      userCode = undefined; // the next world tries again
      throw error;
    }
  };

  return {
    open: async (hasCode) =>
      new WorldLoader({
        fetchBlob,
        readBlob: fetchBlob,
        openFiles: () =>
          (files ??= openSnapshotFiles({
            folder: `${config.workDir}/snapshots`,
            mostBytes: snapshotBytes,
          })),
        userCode: await codeOf(hasCode),
        workDir: codeDir,
        startUserCode() {
          throw new AppError(
            'unavailable',
            'a world that is served from a folder cannot run code of linked worlds',
          );
        },
      }),
    code: async () => userCode,
    async stop() {
      await (await userCode)?.stop();
      await (await files)?.close();
    },
  };
};

/**
 * Starts the TypeScript worker: this Node, running `.ts` files as they are, in the sandbox (`boundary.ts`), and within
 * it under Node's permission model with a bounded heap. The permission model refuses writes, child processes, threads
 * and add-ons with messages that an author understands; the sandbox is the real barrier. It also ends the worker with
 * its host, because a busy loop in JavaScript never notices the end of a pipe.
 */
import { accessSync, constants } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type BoundaryMode,
  boundedNode,
  cleanEnvironment,
  nodeLaterThreads,
  nodeMb,
  userCodeFolder,
} from '../boundary/boundary.ts';
import type { WorkerKind } from '../boundary/worker-kind.ts';
import type { UserCodeLimits } from '../run.ts';

/** Files that the worker itself consists of. */
const workerFiles = [
  'boundary/lines.ts',
  'typescript/current-run.ts',
  'typescript/row-cache.ts',
  'typescript/json-text.ts',
  'typescript/loader.ts',
  'typescript/seen-headers.ts',
  'typescript/svc-env.ts',
  'typescript/svc-testing.ts',
  'typescript/test-runner.ts',
  'typescript/timers.ts',
  'typescript/trace.ts',
  'typescript/worker.mts',
];

/**
 * Returns the folder of compiled code that the host itself was started from, as in the image; it saves the worker most
 * of its start. Only a folder that cannot be written to is passed on, because Node's permission model needs it opened
 * for both reading and writing.
 */
const compiledFolder = (): string | undefined => {
  const own = getCompileCacheDir();
  if (own === undefined) return undefined;
  const folder = dirname(own);
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch {
    return folder;
  }
};

export const typescriptWorker = (
  python: string | undefined,
  workDir: string,
  limits: UserCodeLimits,
  mode: BoundaryMode,
): WorkerKind => {
  const compiled = compiledFolder();
  const openTo = compiled === undefined ? [] : ['read', 'write'];
  const node = [
    '--permission',
    `--allow-fs-read=${join(workDir, '*')}`,
    ...workerFiles.map((file) => `--allow-fs-read=${join(userCodeFolder, file)}`),
    ...openTo.map((access) => `--allow-fs-${access}=${join(compiled ?? '', '*')}`),
    `--max-old-space-size=${limits.memoryMb}`,
    '--no-addons',
    join(userCodeFolder, 'typescript/worker.mts'),
    JSON.stringify({ messageBytes: limits.messageBytes }),
  ];
  const readable = [workDir, userCodeFolder, ...(compiled === undefined ? [] : [compiled])];
  return {
    language: 'typescript',
    isPrestarted: false,
    launch: {
      ...boundedNode({ python, mode, keep: 5, memoryMb: limits.memoryMb, readable, node }),
      environment: {
        ...cleanEnvironment(workDir),
        ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      },
      directory: workDir,
    },
    ownMb: nodeMb,
    laterThreads: nodeLaterThreads,
    readTimeoutTrace: () => [],
  };
};

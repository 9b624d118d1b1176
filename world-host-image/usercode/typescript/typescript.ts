/**
 * Starts the TypeScript worker: this Node, which runs `.ts` files directly, in the sandbox (`boundary.ts`). Inside the
 * sandbox it runs under Node's permission model, with a limited heap. The permission model refuses writes, child
 * processes, threads and add-ons with messages that an author understands; the sandbox is the real barrier. The sandbox
 * also ends the worker together with its host, because a busy loop in JavaScript never notices that a pipe was closed.
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

/** Files that make up the worker itself. */
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
 * Returns the folder of compiled code that the host itself was started from, as in the image; with it, the worker
 * starts much faster. The folder is passed on only if it is read-only, because Node's permission model needs to open it
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

/**
 * How the TypeScript worker is started: this Node, running `.ts` files as they are, under Node's
 * permission model (reads its own files and the code directory; no writes, no child processes, no
 * threads, no add-ons) and with a bounded heap. Node's model does not cover the network: the worker
 * only takes the doors out of sight, and keeping code in is the container's work.
 *
 * It is started through `svc_env/process.py`, which ties its life to the host's: a busy loop in
 * JavaScript never sees the end of a pipe.
 */
import { accessSync, constants } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { cleanEnvironment, isolated, packageRoot } from './python.ts';
import type { UserCodeLimits } from './run.ts';
import type { WorkerKind } from './worker.ts';

/** Files that the worker itself is made of. */
const workerFiles = [
  'json-text.ts',
  'lines.ts',
  'svc-env.ts',
  'typescript-loader.ts',
  'typescript-run.ts',
  'typescript-trace.ts',
  'typescript-worker.mts',
];

/**
 * The folder of code compiled ahead that the host itself was started from, as in the image; it saves
 * the worker most of its start. Only one that nobody can write to is passed on: Node's permission model
 * opens such a folder for reading and writing alike.
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
  python: string,
  workDir: string,
  limits: UserCodeLimits,
): WorkerKind => {
  const compiled = compiledFolder();
  const openTo = compiled === undefined ? [] : ['read', 'write'];
  const node = [
    process.execPath,
    '--permission',
    `--allow-fs-read=${join(workDir, '*')}`,
    ...workerFiles.map((file) => `--allow-fs-read=${join(packageRoot, file)}`),
    ...openTo.map((access) => `--allow-fs-${access}=${join(compiled ?? '', '*')}`),
    `--max-old-space-size=${limits.memoryMb}`,
    '--no-addons',
    join(packageRoot, 'typescript-worker.mts'),
    JSON.stringify({ messageBytes: limits.messageBytes }),
  ];
  const launcher = join(packageRoot, 'svc_env', 'process.py');
  return {
    language: 'typescript',
    launch: {
      command: python,
      arguments: [...isolated, launcher, String(process.pid), ...node],
      environment: {
        ...cleanEnvironment(workDir),
        ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      },
      directory: workDir,
    },
    overrunMs: 0,
    readTimeoutTrace: () => [],
  };
};

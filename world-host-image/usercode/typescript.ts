/**
 * How the TypeScript worker is started: this Node, running `.ts` files as they are, under Node's
 * permission model (reads its own files and the code directory; no writes, no child processes, no
 * threads, no add-ons) and with a bounded heap. Node's model does not cover the network: the worker
 * only takes the doors out of sight, and keeping code in is the container's work.
 *
 * It is started through `svc_env/process.py`, which ties its life to the host's: a busy loop in
 * JavaScript never sees the end of a pipe.
 */
import { join } from 'node:path';
import { cleanEnvironment, isolated, packageRoot } from './python.ts';
import type { UserCodeLimits } from './run.ts';
import type { WorkerKind } from './worker.ts';

/** Files that the worker itself is made of. */
const workerFiles = [
  'lines.ts',
  'svc-env.ts',
  'typescript-loader.ts',
  'typescript-run.ts',
  'typescript-trace.ts',
  'typescript-worker.ts',
];

export const typescriptWorker = (
  python: string,
  workDir: string,
  limits: UserCodeLimits,
): WorkerKind => {
  const node = [
    process.execPath,
    '--permission',
    `--allow-fs-read=${join(workDir, '*')}`,
    ...workerFiles.map((file) => `--allow-fs-read=${join(packageRoot, file)}`),
    `--max-old-space-size=${limits.memoryMb}`,
    '--no-addons',
    join(packageRoot, 'typescript-worker.ts'),
    JSON.stringify({ messageBytes: limits.messageBytes }),
  ];
  const launcher = join(packageRoot, 'svc_env', 'process.py');
  return {
    language: 'typescript',
    launch: {
      command: python,
      arguments: [...isolated, launcher, String(process.pid), ...node],
      environment: cleanEnvironment(workDir),
      directory: workDir,
    },
    overrunMs: 0,
    readTimeoutTrace: () => [],
  };
};

/**
 * Starts workers for the code of linked worlds. A session may have several linked worlds, and each has its own
 * workers.
 */
import { rm } from 'node:fs/promises';
import type { Log } from '#runtime/log.ts';
import { codeDirectory, type HostConfig } from './config.ts';
import type { ProcessBounds } from './usercode/boundary/boundary.ts';
import { startUserCode, type UserCode } from './usercode/runner.ts';

/** Workers of one linked world. */
export type LinkedWorkers = {
  userCode: UserCode;
  workDir: string;
  /** Kills the workers and removes their folder; returns the ids of all processes that were started. */
  end(): Promise<number[]>;
};

export type LinkedCode = {
  /** Starts the workers of one more world, in a folder of its own. */
  start(): Promise<LinkedWorkers>;
  /** Kills all workers. */
  stop(): Promise<void>;
};

export type LinkedCodeParts = {
  config: HostConfig;
  /** Limits of the host's own workers. The workers of linked worlds use the same memory pool. */
  bounds: ProcessBounds;
  log: Log;
};

/** Makes the starter of workers; it does not start any yet. */
export const createLinkedCode = ({ config, bounds, log }: LinkedCodeParts): LinkedCode => {
  const started = new Set<Promise<UserCode>>();
  let folders = 0;
  const { python, searchPath, userCode } = config;
  return {
    async start() {
      folders += 1;
      const workDir = `${codeDirectory(config)}-linked-${folders}`;
      const starting = startUserCode({
        python,
        searchPath,
        boundary: userCode.boundary,
        limits: { memoryMb: userCode.memoryMb },
        ...(bounds.memory === undefined ? {} : { pool: bounds.memory.pool }),
        workDir,
        log,
      });
      started.add(starting);
      const workers = await starting;
      return {
        userCode: workers,
        workDir,
        async end() {
          const pids = workers.processes().started;
          await workers.stop();
          started.delete(starting);
          await rm(workDir, { recursive: true, force: true, maxRetries: 5 });
          return pids;
        },
      };
    },
    async stop() {
      const ended = await Promise.allSettled(started);
      const up = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      await Promise.all(up.map((one) => one.stop()));
    },
  };
};

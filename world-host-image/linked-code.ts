/** Workers for the code of linked worlds, of which a session may have several: each world has its own. */
import type { Log } from '#runtime/log.ts';
import { codeDirectory, type HostConfig } from './config.ts';
import type { ProcessBounds } from './usercode/boundary.ts';
import { startUserCode, type UserCode } from './usercode/runner.ts';

export type LinkedCode = {
  /** Starts the workers of one more world, in a folder of its own. */
  start(): Promise<{ userCode: UserCode; workDir: string }>;
  /** Kills them all. */
  stop(): Promise<void>;
};

export type LinkedCodeParts = {
  config: HostConfig;
  /** Those of the host's own workers: all together have the memory that these have. */
  bounds: ProcessBounds;
  log: Log;
};

/** Starts nothing yet. */
export const createLinkedCode = ({ config, bounds, log }: LinkedCodeParts): LinkedCode => {
  const started: Promise<UserCode>[] = [];
  const { python, searchPath, userCode } = config;
  return {
    async start() {
      const workDir = `${codeDirectory(config)}-linked-${started.length + 1}`;
      const starting = startUserCode({
        python,
        searchPath,
        boundary: userCode.boundary,
        limits: { memoryMb: userCode.memoryMb },
        ...(bounds.memory === undefined ? {} : { pool: bounds.memory.pool }),
        workDir,
        log,
      });
      started.push(starting);
      return { userCode: await starting, workDir };
    },
    async stop() {
      const ended = await Promise.allSettled(started);
      const up = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      await Promise.all(up.map((one) => one.stop()));
    },
  };
};

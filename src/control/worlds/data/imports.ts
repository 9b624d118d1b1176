/**
 * Claims batches and has them executed, up to a fixed number at once. A replica that seals a batch sends a
 * notification. In addition the loop polls, also for batches whose worker died. A claim picks a batch of the project
 * with the fewest under way, and never of a world that has one under way.
 */
import { join } from 'node:path';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { openSnapshotFiles, type SnapshotFiles } from '#store/files/snapshot-files.ts';
import { claimBatch } from '../../db/worlds/import-jobs.ts';
import type { WorldParts } from '../parts.ts';
import { runImportJob } from './import-job.ts';
import { removeDeadFolders } from './job-folder.ts';

export type Imports = {
  /** Makes the loop look for a batch at once. */
  nudge(): void;
  /** Returns the number of jobs that this process runs. */
  running(): number;
  loop: Loop<number>;
  stop(): Promise<void>;
};

const lookEveryMs = 1_000;
/** Topic of the notification that a replica has sealed a batch. */
export const importsTopic = 'imports';

type ImportsParts = Pick<
  WorldParts,
  'blobs' | 'config' | 'db' | 'log' | 'metrics' | 'notifications' | 'versions' | 'snapshots'
>;

/** Starts the loop. Stopping it waits for the jobs under way. */
export const startImports = async (parts: ImportsParts): Promise<Imports> => {
  const { config, db, log, notifications } = parts;
  const folder = join(config.workDir, 'imports');
  await removeDeadFolders(db, folder);
  const stopping = new AbortController();
  const jobs = new Set<Promise<void>>();

  const begin = (claimed: Parameters<typeof runImportJob>[1]): void => {
    const job = runImportJob({ ...parts, folder }, claimed, stopping.signal)
      .catch((err: unknown) => log.warn({ err, batch: claimed.id }, 'an import broke off'))
      .finally(() => {
        jobs.delete(job);
        loop.nudge();
      });
    jobs.add(job);
  };

  const tick = async (): Promise<number> => {
    while (jobs.size < config.imports.processes && !stopping.signal.aborted) {
      const claimed = await claimBatch(db);
      if (claimed === undefined) break;
      begin(claimed);
    }
    return jobs.size;
  };
  const loop = startLoop({ name: 'imports', everyMs: lookEveryMs, tick, log });
  const watch = notifications.watch(importsTopic);
  const hear = async (): Promise<void> => {
    while (!stopping.signal.aborted && !notifications.closed) {
      const { told } = await watch.next(60_000, stopping.signal);
      if (told) loop.nudge();
    }
    watch.end();
  };
  const hearing = hear();
  return {
    nudge: () => loop.nudge(),
    running: () => jobs.size,
    loop,
    async stop() {
      stopping.abort();
      await Promise.all([loop.stop(), hearing, ...jobs]);
    },
  };
};

/** Opens the folder of unpacked snapshots on this machine. */
export const openSnapshots = (workDir: string, mostMib: number): Promise<SnapshotFiles> =>
  openSnapshotFiles({ folder: join(workDir, 'snapshots'), mostBytes: mostMib * 1024 * 1024 });

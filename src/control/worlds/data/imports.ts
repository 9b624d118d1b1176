/**
 * Claims batches of rows and imports them, up to a fixed number at the same time. A replica that seals a batch sends a
 * notification. A claim takes a batch of the project with the fewest batches in progress, and never one of a world that
 * already has a batch in progress.
 */
import { join } from 'node:path';
import { openSnapshotFiles, type SnapshotFiles } from '#store/files/snapshot-files.ts';
import { claimBatch } from '../../db/worlds/import-jobs.ts';
import { type ClaimLoopRunning, startClaimLoop } from '../../platform/notifications/claim-loop.ts';
import type { WorldParts } from '../parts.ts';
import { runImportJob } from './import-job.ts';
import { removeDeadFolders } from './job-folder.ts';

/** Topic of the notification that a replica has sealed a batch. */
export const importsTopic = 'imports';

type ImportsParts = Pick<
  WorldParts,
  'blobs' | 'config' | 'db' | 'log' | 'metrics' | 'notifications' | 'versions' | 'snapshots'
>;

/** Starts the loop. Stopping the loop waits for the jobs in progress. */
export const startImports = async (parts: ImportsParts): Promise<ClaimLoopRunning> => {
  const { config, db, log } = parts;
  const folder = join(config.workDir, 'imports');
  await removeDeadFolders(db, folder);
  return startClaimLoop(parts, {
    name: 'imports',
    topic: importsTopic,
    most: config.imports.processes,
    claim: () => claimBatch(db),
    run: (claimed, signal) =>
      runImportJob({ ...parts, folder }, claimed, signal).catch((err: unknown) =>
        log.warn({ err, batch: claimed.id }, 'an import broke off'),
      ),
  });
};

/** Opens the folder that holds the unpacked snapshots on this machine. */
export const openSnapshots = (workDir: string, mostMib: number): Promise<SnapshotFiles> =>
  openSnapshotFiles({ folder: join(workDir, 'snapshots'), mostBytes: mostMib * 1024 * 1024 });

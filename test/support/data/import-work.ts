/** Claims and runs imports in a test, on the database and blobs of a control plane that runs none itself. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '#runtime/log.ts';
import type { ControlConfig } from '../../../src/control/config.ts';
import { openDatabase } from '../../../src/control/db/core/database.ts';
import { type ClaimedBatch, claimBatch } from '../../../src/control/db/worlds/import-jobs.ts';
import type { Blobs } from '../../../src/control/platform/blobs/blobs.ts';
import { openBlobs } from '../../../src/control/platform/blobs/open.ts';
import { startNotifications } from '../../../src/control/platform/notifications/notifications.ts';
import { createMetrics } from '../../../src/control/platform/telemetry/counters.ts';
import { createVersions } from '../../../src/control/worlds/caches/versions.ts';
import { runImportJob } from '../../../src/control/worlds/data/import-job.ts';
import { openSnapshots } from '../../../src/control/worlds/data/imports.ts';
import { removeDeadFolders } from '../../../src/control/worlds/data/job-folder.ts';

/** Gate at which a job waits until it is opened; `reached` resolves when the job arrives. */
export type Gate = { reached: Promise<void>; pass(): Promise<void>; open(): void };

export const createGate = (): Gate => {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    reached: reached.promise,
    pass: () => {
      reached.resolve();
      return opened.promise;
    },
    open: opened.resolve,
  };
};

export type ImportWork = {
  claim(): Promise<ClaimedBatch | undefined>;
  /** Claims the next batch; throws if there is none. */
  claimNext(): Promise<ClaimedBatch>;
  /** Runs a job as a worker does. `blobs` replaces parts of the blob store; `folder` replaces the worker's. */
  run(
    batch: ClaimedBatch,
    instead?: { blobs?: (blobs: Blobs) => Partial<Blobs>; folder?: string },
  ): Promise<void>;
  /** Removes files of dead workers, as a starting worker does. */
  removeDead(folder: string): Promise<void>;
  stop(): Promise<void>;
};

export const startImportWork = async (config: ControlConfig): Promise<ImportWork> => {
  const log = createLog('test', 'silent');
  const db = openDatabase(config.databaseUrl, log);
  const notifications = startNotifications(config.databaseUrl, db, log);
  const snapshots = await openSnapshots(config.workDir, config.imports.diskMib);
  const blobs = await openBlobs(config.blobs, db, config.workDir);
  const folder = join(config.workDir, 'jobs');
  await mkdir(folder, { recursive: true });
  const parts = {
    blobs,
    config,
    db,
    log,
    metrics: createMetrics(),
    notifications,
    snapshots,
    folder,
  };
  const versions = createVersions(db);
  const stopping = new AbortController();
  const claim = (): Promise<ClaimedBatch | undefined> => claimBatch(db);
  return {
    claim,
    async claimNext() {
      const claimed = await claim();
      if (claimed === undefined) throw new Error('no batch waits');
      return claimed;
    },
    run(batch, instead = {}) {
      const own = { ...blobs, ...instead.blobs?.(blobs) };
      const job = { ...parts, versions, blobs: own, folder: instead.folder ?? folder };
      return runImportJob(job, batch, stopping.signal);
    },
    removeDead: (folder) => removeDeadFolders(db, folder),
    async stop() {
      await notifications.stop();
      await snapshots.close();
      await db.close();
    },
  };
};

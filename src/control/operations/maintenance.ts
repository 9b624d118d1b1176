/**
 * Periodic cleanup, on the replica that handles the orchestrator's request. It removes blobs that nothing needs,
 * because their world was never created or their file was deleted. It closes sessions whose runs are over, drops
 * uploads that were never confirmed, and drops requests of closed sessions beyond their project's quota. It also fills
 * in data that an earlier release did not write. The orchestrator triggers the cleanup together with the reaper; each
 * pass does a bounded amount of work.
 */

import { findLeftSessions } from '../db/evaluation/run-sessions.ts';
import { collectUpload } from '../db/projects/uploads.ts';
import { fillVerdicts } from '../db/sessions/last-grade.ts';
import { fillLedgers, trimLedgers } from '../db/sessions/ledgers.ts';
import { dropOfDeletedWorlds, emptyBatch, findSpentBatches } from '../db/worlds/batches.ts';
import { fillVersions } from '../db/worlds/version-summaries.ts';
import { emptyDeletedWorld } from '../db/worlds/world-ends.ts';
import type { Parts } from '../parts.ts';
import { dropExpiredUploads, emptyDeletedFolders } from '../projects/files/tidy.ts';
import { closeAndWait } from '../sessions/lifecycle/close.ts';
import { dropOldRecording } from '../sessions/recordings/keep.ts';
import { settleOpenAnswers } from '../sessions/webhooks/open-answers.ts';

/** Maximum number of rounds of blob removal in one pass; each round removes several blobs. */
const mostRounds = 16;

const collectBlobs = async ({ blobs, db, log }: Parts): Promise<void> => {
  for (let round = 0; round < mostRounds; round += 1) {
    const removed = await collectUpload(db, (digest) => blobs.remove(digest));
    if (removed === 0) return;
    log.info({ blobs: removed }, 'removed blobs that nothing has');
  }
};

/** Removes the bytes of import chunks that are no longer needed. */
const emptyBatches = async ({ blobs, db }: Parts): Promise<void> => {
  await dropOfDeletedWorlds(db);
  for (const id of await findSpentBatches(db)) {
    const chunks = await emptyBatch(db, id);
    for (const chunk of chunks) await blobs.presigned?.drop(chunk);
  }
};

const trimLargeLedgers = async ({ config, db, log, metrics }: Parts): Promise<void> => {
  const trimmed = await trimLedgers(db, config.quotas.ledgerMib);
  if (trimmed === undefined || trimmed.dropped.length === 0) return;
  const { projectId, dropped } = trimmed;
  const entries = dropped.reduce((sum, each) => sum + each.entries, 0);
  metrics.ledgerDropped.inc(entries);
  const sessions = dropped.map(({ sessionId }) => sessionId);
  log.warn({ projectId, sessions, entries }, 'dropped requests of sessions: ledger quota');
};

/**
 * Closes sessions that their runs left open, because the database was unreachable when the run ended or because the run
 * was deleted.
 */
const closeLeftSessions = async (parts: Parts): Promise<void> => {
  const { signal } = new AbortController();
  for (const { id: sessionId, projectId, isOfTests } of await findLeftSessions(parts.db)) {
    await closeAndWait(parts, { projectId, sessionId, seconds: 0, signal }, isOfTests);
    parts.log.info({ sessionId }, 'closed a session that its run had left');
  }
};

/** Runs each cleanup job once. If a job fails, the other jobs still run, and the first failure is thrown at the end. */
export const tidyUp = async (parts: Parts): Promise<void> => {
  const jobs = [
    () => fillVersions(parts.db),
    () => fillLedgers(parts.db),
    () => fillVerdicts(parts.db),
    () => emptyDeletedWorld(parts.db, parts.config.deletedGraceMinutes),
    () => emptyBatches(parts),
    () => dropExpiredUploads(parts),
    () => emptyDeletedFolders(parts),
    () => collectBlobs(parts),
    () => dropOldRecording(parts),
    () => trimLargeLedgers(parts),
    () => settleOpenAnswers(parts),
    () => closeLeftSessions(parts),
  ];
  const failures: unknown[] = [];
  for (const job of jobs) await job().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
};

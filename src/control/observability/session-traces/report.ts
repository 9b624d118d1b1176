/**
 * Writes reports about sessions into the sessions' traces, for the entries of an outbox, oldest first. One transaction
 * locks the entries, writes their reports with the statements that also write data of SDKs, and deletes the entries. So
 * each entry is reported exactly once, even if a process dies.
 */
import type { DailyChange } from '#observability/daily.ts';
import type { Queryable, Transaction } from '../../db/core/database.ts';
import { addDailyUsage, ownSlots } from '../../db/observability/daily-usage.ts';
import { writeScores } from '../../db/observability/scores.ts';
import {
  deleteOutboxEntries,
  dropFormerScores,
  lockTraces,
  markReported,
  type OutboxEntry,
  requeueLedgerEntries,
  stopReporting,
  takeOutboxEntries,
} from '../../db/observability/session-traces.ts';
import type { GradeReader } from '../../worlds/compile/grade-reader.ts';
import { writeReports } from '../ingestion/write.ts';
import type { PriceBook } from '../models/price-book.ts';
import { scorePrefixOf, scoresOf } from './grade-scores.ts';
import { readSessionReports, type SessionReports } from './sources.ts';

/** Limits of one transaction, in entries and bytes; the first entry is always included. */
export type Batch = { entries: number; bytes: number };

/** Context of a batch: the partition of new traces, the reader of grades, and the prices. */
export type ReportContext = { week: number; readGrade: GradeReader; prices: PriceBook };

/** Returns the first entries whose sizes together stay within the limit; at least one entry. */
const fitting = (outboxEntries: readonly OutboxEntry[], mostBytes: number): OutboxEntry[] => {
  let bytes = 0;
  return outboxEntries.filter((entry, index) => {
    bytes += entry.bytes;
    return index === 0 || bytes <= mostBytes;
  });
};

const idsOf = (reported: readonly SessionReports[]): string[] =>
  reported.map(({ session }) => session.id);

const tracesOf = (reported: readonly SessionReports[]): string[] => {
  const named = reported.flatMap(({ reports, session }) => [
    session.traceId,
    ...reports.flatMap((one) => (one.kind === 'trace' ? one.id : (one.traceId ?? []))),
  ]);
  return [...new Set(named)];
};

/**
 * Returns the sessions without those whose trace a user has deleted. Sessions with a deleted trace are not reported
 * again.
 */
const withoutDeleted = async (
  tx: Queryable,
  projectId: string,
  reported: readonly SessionReports[],
): Promise<SessionReports[]> => {
  const there = await lockTraces(tx, projectId, tracesOf(reported));
  const isGone = ({ session }: SessionReports): boolean =>
    session.isReported && !there.has(session.traceId);
  await stopReporting(tx, idsOf(reported.filter(isGone)));
  return reported.filter((one) => !isGone(one));
};

const writeGrades = async (
  tx: Queryable,
  projectId: string,
  reported: readonly SessionReports[],
): Promise<void> => {
  const graded = reported.flatMap(({ session, graded: grade }) =>
    grade === undefined ? [] : [{ session, grade }],
  );
  const scores = graded.flatMap(({ session, grade }) => scoresOf(session, grade));
  await writeScores(tx, projectId, scores);
  const former = graded.map(({ session: { id, traceId }, grade: { answeredMs } }) => ({
    ...{ traceId, prefix: scorePrefixOf(id), reportedAt: answeredMs * 1_000 },
  }));
  await dropFormerScores(tx, projectId, former);
};

/**
 * Writes the reports of the sessions of one project. Returns the number of observations and the changes to the
 * project's daily usage.
 */
const writeSessionReports = async (
  tx: Transaction,
  projectId: string,
  given: readonly SessionReports[],
  { week, prices }: Pick<ReportContext, 'week' | 'prices'>,
): Promise<{ observations: number; changes: DailyChange[] }> => {
  const reported = await withoutDeleted(tx, projectId, given);
  await markReported(tx, idsOf(reported));
  const reports = reported.flatMap((one) => one.reports);
  const changes = await writeReports(tx, prices.of(projectId), projectId, reports, week);
  await writeGrades(tx, projectId, reported);
  const observations = reports.filter(({ kind }) => kind === 'observation').length;
  return { observations, changes };
};

/** Result of a batch. */
export type BatchResult = {
  entries: number;
  observations: number;
  /** True if the batch was full, so that more entries may be in the outbox. */
  isFull: boolean;
};

/** Reports a batch, in the given transaction. */
export const reportBatch = async (
  tx: Transaction,
  { week, readGrade, prices }: ReportContext,
  batch: Batch,
): Promise<BatchResult> => {
  const taken = await takeOutboxEntries(tx, batch.entries);
  if (taken.length === 0) return { entries: 0, observations: 0, isFull: false };
  const outboxEntries = fitting(taken, batch.bytes);
  const { reported, later } = await readSessionReports(tx, outboxEntries, readGrade);
  const projects = Map.groupBy(reported, ({ session }) => session.projectId);
  let observations = 0;
  const changes = new Map<string, DailyChange[]>();
  // Every batch writes projects in the order of their ids, so that no two batches deadlock.
  for (const projectId of [...projects.keys()].sort()) {
    const ofProject = projects.get(projectId) ?? [];
    const written = await writeSessionReports(tx, projectId, ofProject, { week, prices });
    observations += written.observations;
    changes.set(projectId, written.changes);
  }
  await requeueLedgerEntries(tx, later);
  await deleteOutboxEntries(
    tx,
    outboxEntries.map(({ id }) => id),
  );
  for (const [projectId, ofProject] of changes) {
    await addDailyUsage(tx, projectId, ofProject, ownSlots.sessions);
  }
  const isFull = taken.length === batch.entries || outboxEntries.length < taken.length;
  return { entries: outboxEntries.length, observations, isFull };
};

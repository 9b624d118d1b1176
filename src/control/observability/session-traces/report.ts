/**
 * Reports sessions in their traces from an outbox, oldest items first. One transaction locks the items, writes their
 * reports with the statements used for SDK data, and deletes them. So each item is reported exactly once, even if a
 * process dies.
 */
import type { DailyChange } from '#observability/daily.ts';
import type { Queryable, Transaction } from '../../db/core/database.ts';
import { addDailyUsage, ownSlots } from '../../db/observability/daily-usage.ts';
import { writeScores } from '../../db/observability/scores.ts';
import {
  deleteDues,
  dropFormerScores,
  endTold,
  lockTraces,
  noteTold,
  type TraceDue,
  takeDues,
  tellAgain,
} from '../../db/observability/session-traces.ts';
import type { GradeReader } from '../../worlds/compile/grade-reader.ts';
import { writeTold } from '../ingestion/write.ts';
import type { PriceBook } from '../models/price-book.ts';
import { scorePrefixOf, scoresOf } from './grade-scores.ts';
import { readStories, type Story } from './sources.ts';

/** Limits of one transaction; the first item is always included. */
export type Batch = { dues: number; bytes: number };

/** Context of a batch: the partition of new traces, the reader of grades, and the prices. */
export type Telling = { week: number; readGrade: GradeReader; prices: PriceBook };

/** Returns the items that fit, from the first on. */
const fitting = (dues: readonly TraceDue[], mostBytes: number): TraceDue[] => {
  let bytes = 0;
  return dues.filter((due, index) => {
    bytes += due.bytes;
    return index === 0 || bytes <= mostBytes;
  });
};

const idsOf = (stories: readonly Story[]): string[] => stories.map(({ session }) => session.id);

const tracesOf = (stories: readonly Story[]): string[] => {
  const named = stories.flatMap(({ told, session }) => [
    session.traceId,
    ...told.flatMap((one) => (one.kind === 'trace' ? one.id : (one.traceId ?? []))),
  ]);
  return [...new Set(named)];
};

/** Drops sessions whose trace was deleted by a user, and stops reporting on them. */
const withoutDeleted = async (
  tx: Queryable,
  projectId: string,
  stories: readonly Story[],
): Promise<Story[]> => {
  const there = await lockTraces(tx, projectId, tracesOf(stories));
  const isGone = ({ session }: Story): boolean => session.isTold && !there.has(session.traceId);
  await endTold(tx, idsOf(stories.filter(isGone)));
  return stories.filter((story) => !isGone(story));
};

const writeGrades = async (
  tx: Queryable,
  projectId: string,
  stories: readonly Story[],
): Promise<void> => {
  const graded = stories.flatMap(({ session, graded: grade }) =>
    grade === undefined ? [] : [{ session, grade }],
  );
  const scores = graded.flatMap(({ session, grade }) => scoresOf(session, grade));
  await writeScores(tx, projectId, scores);
  const former = graded.map(({ session: { id, traceId }, grade: { answeredMs } }) => ({
    ...{ traceId, prefix: scorePrefixOf(id), saidAt: answeredMs * 1_000 },
  }));
  await dropFormerScores(tx, projectId, former);
};

/**
 * Writes the reports of a project's sessions; returns the number of observations and the changes of its daily usage.
 */
const writeStories = async (
  tx: Transaction,
  projectId: string,
  given: readonly Story[],
  { week, prices }: Pick<Telling, 'week' | 'prices'>,
): Promise<{ observations: number; changes: DailyChange[] }> => {
  const stories = await withoutDeleted(tx, projectId, given);
  await noteTold(tx, idsOf(stories));
  const told = stories.flatMap((story) => story.told);
  const changes = await writeTold(tx, prices.of(projectId), projectId, told, week);
  await writeGrades(tx, projectId, stories);
  const observations = told.filter(({ kind }) => kind === 'observation').length;
  return { observations, changes };
};

/** Result of a batch. */
export type BatchTold = {
  dues: number;
  observations: number;
  /** True if more items may wait. */
  isFull: boolean;
};

/** Reports a batch, in the given transaction. */
export const tellBatch = async (
  tx: Transaction,
  { week, readGrade, prices }: Telling,
  batch: Batch,
): Promise<BatchTold> => {
  const taken = await takeDues(tx, batch.dues);
  if (taken.length === 0) return { dues: 0, observations: 0, isFull: false };
  const dues = fitting(taken, batch.bytes);
  const { stories, later } = await readStories(tx, dues, readGrade);
  const projects = Map.groupBy(stories, ({ session }) => session.projectId);
  let observations = 0;
  const changes = new Map<string, DailyChange[]>();
  // Every batch writes projects in the order of their ids, so that no two batches deadlock.
  for (const projectId of [...projects.keys()].sort()) {
    const ofProject = projects.get(projectId) ?? [];
    const written = await writeStories(tx, projectId, ofProject, { week, prices });
    observations += written.observations;
    changes.set(projectId, written.changes);
  }
  await tellAgain(tx, later);
  await deleteDues(
    tx,
    dues.map(({ id }) => id),
  );
  for (const [projectId, ofProject] of changes) {
    await addDailyUsage(tx, projectId, ofProject, ownSlots.sessions);
  }
  const isFull = taken.length === batch.dues || dues.length < taken.length;
  return { dues: dues.length, observations, isFull };
};

/**
 * Builds the reports for the entries of the outbox: about sessions, about entries of their ledgers, and about calls.
 */
import { callTransitions } from '#domain/call.ts';
import { isFinal } from '#domain/transitions.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  findGradeCalls,
  findLostGrades,
  findTracedEntries,
  findTracedSessions,
  findUnwritten,
  type GradeCall,
  type LedgerEntryKey,
  type LostGrade,
  type OutboxEntry,
  type TracedEntry,
  type TracedSession,
  type UnwrittenCall,
} from '../../db/observability/session-traces.ts';
import type { GradeReader } from '../../worlds/compile/grade-reader.ts';
import type { Report } from '../ingestion/fold.ts';
import { reportEntry, reportUnwritten } from './entry-spans.ts';
import { type GradedCall, outcomeOf, reportGrade } from './grade-scores.ts';
import { reportSession } from './session-span.ts';

/** Session with the reports about it. */
export type SessionReports = {
  session: TracedSession;
  reports: Report[];
  /** Latest grade among the reports. */
  graded: GradedCall | undefined;
};

/**
 * Returns true if the call of an entry has not ended yet. A host may write the entry before the answer of the call
 * arrives here.
 */
const isRunning = ({ callState }: TracedEntry): boolean =>
  callState !== null && !isFinal(callTransitions, callState);

type Graded = Pick<Parts, 'entries' | 'grades' | 'lost'>;

/**
 * Returns the latest grade to report. If the ledger entry of the session's last grade was lost with its host, returns
 * that grade.
 */
const lastGrade = ({ entries, grades, lost }: Graded): LostGrade | undefined => {
  if (lost !== undefined) return lost;
  const candidates = [
    ...entries.map((entry) => ({ ...entry, answeredAt: entry.answeredAt ?? entry.at })),
    ...grades,
  ].flatMap(({ sessionId, callId, gradeJson, answeredAt }) =>
    gradeJson === null || callId === null || answeredAt === null
      ? []
      : [{ sessionId, callId, gradeJson, answeredAt }],
  );
  return candidates.toSorted((one, other) => +one.answeredAt - +other.answeredAt).at(-1);
};

const findGrade = async (
  { projectId }: TracedSession,
  parts: Parts,
  readGrade: GradeReader,
): Promise<GradedCall | undefined> => {
  const last = lastGrade(parts);
  if (last === undefined) return undefined;
  const grade = await readGrade(last.gradeJson, projectId);
  return grade && { callId: last.callId, answeredMs: last.answeredAt.getTime(), grade };
};

type Parts = {
  isAboutSession: boolean;
  entries: TracedEntry[];
  /** Calls that graded the session. */
  grades: GradeCall[];
  unwritten: UnwrittenCall[];
  lost: LostGrade | undefined;
};

const reportsOf = async (
  session: TracedSession,
  parts: Parts,
  readGrade: GradeReader,
): Promise<SessionReports> => {
  const { isAboutSession, entries, grades, unwritten } = parts;
  const graded = await findGrade(session, parts, readGrade);
  const reports = [
    ...(isAboutSession ? reportSession(session) : []),
    ...entries.flatMap((entry) => reportEntry(session, entry)),
    ...grades.flatMap((call) =>
      reportUnwritten(session, call, call.callId === graded?.callId ? outcomeOf(graded) : null),
    ),
    ...unwritten.flatMap((call) => reportUnwritten(session, call)),
    ...(graded === undefined ? [] : reportGrade(session, graded)),
  ];
  return { session, reports, graded };
};

/** Builds the reports for outbox entries. `later` are ledger entries whose call has not ended yet. */
export const readSessionReports = async (
  tx: Queryable,
  outboxEntries: readonly OutboxEntry[],
  readGrade: GradeReader,
): Promise<{ reported: SessionReports[]; later: LedgerEntryKey[] }> => {
  const ids = [...new Set(outboxEntries.map(({ sessionId }) => sessionId))];
  const sessions = (await findTracedSessions(tx, ids)).filter(({ isOver }) => !isOver);
  const aboutSessions = outboxEntries.filter(({ isAboutSession }) => isAboutSession);
  const dueIds = new Set(aboutSessions.map(({ sessionId }) => sessionId));
  const ended = sessions.filter(({ id, closedAt }) => closedAt !== null && dueIds.has(id));
  const endedIds = ended.map(({ id }) => id);
  const entries = Map.groupBy(
    await findTracedEntries(tx, outboxEntries),
    ({ sessionId }) => sessionId,
  );
  const failedIds = ended.filter(({ state }) => state === 'FAILED').map(({ id }) => id);
  const unwritten = await findUnwritten(tx, endedIds, failedIds);
  const lost = await findLostGrades(tx, endedIds);
  const grades = Map.groupBy(await findGradeCalls(tx, outboxEntries), ({ sessionId }) => sessionId);
  const unwrittenBy = Map.groupBy(unwritten, ({ sessionId }) => sessionId);
  const reported: SessionReports[] = [];
  const later: LedgerEntryKey[] = [];
  for (const session of sessions) {
    const { id, isReported } = session;
    const own = entries.get(id) ?? [];
    later.push(...own.filter(isRunning));
    const parts = {
      // The first report of a session includes its trace.
      isAboutSession: dueIds.has(id) || !isReported,
      entries: own.filter((entry) => !isRunning(entry)),
      grades: grades.get(id) ?? [],
      unwritten: unwrittenBy.get(id) ?? [],
      lost: lost.find(({ sessionId }) => sessionId === id),
    };
    reported.push(await reportsOf(session, parts, readGrade));
  }
  return { reported, later };
};

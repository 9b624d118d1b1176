/** Reads the data of due reports: sessions, with the entries of their ledgers and the calls that are due. */
import { callTransitions } from '#domain/call.ts';
import { isFinal } from '#domain/transitions.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  type EntryName,
  findGradeCalls,
  findLostGrades,
  findToldEntries,
  findToldSessions,
  findUnwritten,
  type GradeCall,
  type LostGrade,
  type ToldEntry,
  type ToldSession,
  type TraceDue,
  type UnwrittenCall,
} from '../../db/observability/session-traces.ts';
import type { GradeReader } from '../../worlds/compile/grade-reader.ts';
import type { Told } from '../ingestion/fold.ts';
import { tellEntry, tellUnwritten } from './entry-spans.ts';
import { type GradedCall, outcomeOf, tellGrade } from './grade-scores.ts';
import { tellSession } from './session-span.ts';

/** A session with the reports that are due. */
export type Story = {
  session: ToldSession;
  told: Told[];
  /** Latest grade among the reports. */
  graded: GradedCall | undefined;
};

/** Returns true if the call has no final state yet: hosts write an entry before the answer arrives here. */
const isUnderWay = ({ callState }: ToldEntry): boolean =>
  callState !== null && !isFinal(callTransitions, callState);

type Graded = Pick<Parts, 'entries' | 'grades' | 'lost'>;

/**
 * Returns the latest grade of the due reports, or the session's last one if its ledger entry was lost with the host.
 */
const lastGrade = ({ entries, grades, lost }: Graded): LostGrade | undefined => {
  if (lost !== undefined) return lost;
  const told = [
    ...entries.map((entry) => ({ ...entry, answeredAt: entry.answeredAt ?? entry.at })),
    ...grades,
  ].flatMap(({ sessionId, callId, gradeJson, answeredAt }) =>
    gradeJson === null || callId === null || answeredAt === null
      ? []
      : [{ sessionId, callId, gradeJson, answeredAt }],
  );
  return told.toSorted((one, other) => +one.answeredAt - +other.answeredAt).at(-1);
};

const findGrade = async (
  { projectId }: ToldSession,
  parts: Parts,
  readGrade: GradeReader,
): Promise<GradedCall | undefined> => {
  const last = lastGrade(parts);
  if (last === undefined) return undefined;
  const grade = await readGrade(last.gradeJson, projectId);
  return grade && { callId: last.callId, answeredMs: last.answeredAt.getTime(), grade };
};

type Parts = {
  tellsSession: boolean;
  entries: ToldEntry[];
  /** Calls that graded the session. */
  grades: GradeCall[];
  unwritten: UnwrittenCall[];
  lost: LostGrade | undefined;
};

const storyOf = async (
  session: ToldSession,
  parts: Parts,
  readGrade: GradeReader,
): Promise<Story> => {
  const { tellsSession, entries, grades, unwritten } = parts;
  const graded = await findGrade(session, parts, readGrade);
  const told = [
    ...(tellsSession ? tellSession(session) : []),
    ...entries.flatMap((entry) => tellEntry(session, entry)),
    ...grades.flatMap((call) =>
      tellUnwritten(session, call, call.callId === graded?.callId ? outcomeOf(graded) : null),
    ),
    ...unwritten.flatMap((call) => tellUnwritten(session, call)),
    ...(graded === undefined ? [] : tellGrade(session, graded)),
  ];
  return { session, told, graded };
};

/** Reads the due reports, and the entries that can only be reported later. */
export const readStories = async (
  tx: Queryable,
  dues: readonly TraceDue[],
  readGrade: GradeReader,
): Promise<{ stories: Story[]; later: EntryName[] }> => {
  const ids = [...new Set(dues.map(({ sessionId }) => sessionId))];
  const sessions = (await findToldSessions(tx, ids)).filter(({ isOver }) => !isOver);
  const telling = dues.filter(({ tellsSession }) => tellsSession);
  const isDue = new Set(telling.map(({ sessionId }) => sessionId));
  const ended = sessions.filter(({ id, closedAt }) => closedAt !== null && isDue.has(id));
  const endedIds = ended.map(({ id }) => id);
  const entries = Map.groupBy(await findToldEntries(tx, dues), ({ sessionId }) => sessionId);
  const failedIds = ended.filter(({ state }) => state === 'FAILED').map(({ id }) => id);
  const unwritten = await findUnwritten(tx, endedIds, failedIds);
  const lost = await findLostGrades(tx, endedIds);
  const grades = Map.groupBy(await findGradeCalls(tx, dues), ({ sessionId }) => sessionId);
  const unwrittenBy = Map.groupBy(unwritten, ({ sessionId }) => sessionId);
  const stories: Story[] = [];
  const later: EntryName[] = [];
  for (const session of sessions) {
    const { id, isTold } = session;
    const own = entries.get(id) ?? [];
    later.push(...own.filter(isUnderWay));
    const parts = {
      // The first report of a session includes its trace.
      tellsSession: isDue.has(id) || !isTold,
      entries: own.filter((entry) => !isUnderWay(entry)),
      grades: grades.get(id) ?? [],
      unwritten: unwrittenBy.get(id) ?? [],
      lost: lost.find(({ sessionId }) => sessionId === id),
    };
    stories.push(await storyOf(session, parts, readGrade));
  }
  return { stories, later };
};

/** Compares two builds by the grades of their sessions. */
import { type Comparison, compareBuilds, type PlayedSession } from '#domain/comparison.ts';
import type { BuildComparison } from '#wire/public-api/evaluation/release.ts';
import { type BuildRow, findAnyBuild } from '../../db/evaluation/agent-builds.ts';
import {
  type ComparedSession,
  listCompared,
  readGrades,
} from '../../db/evaluation/compared-sessions.ts';
import type { Parts } from '../../parts.ts';
import { noBuild } from './builds.ts';
import { viewRef } from './view.ts';

/**
 * Maximum number of sessions of a build that are compared (the newest ones), and of grades that are read at once. One
 * grade may have megabytes.
 */
const mostSessions = 1_000;
const gradesAtOnce = 10;
/** Maximum number of flips that an answer lists. A flip is a task whose verdict differs between the two builds. */
const mostFlips = 1_000;

type Asked = { agentId?: string; base: string; candidate: string };

const getNamed = async (
  { db }: Parts,
  projectId: string,
  { agentId }: Asked,
  named: string,
): Promise<BuildRow> => {
  const build = await findAnyBuild(db, projectId, agentId ?? null, named);
  if (build !== undefined) return build;
  throw agentId === undefined
    ? noBuild(`with the id or buildHash "${named}"; a label or a version needs the agentId`)
    : noBuild(`of "${agentId}" with the id, buildHash, label or version "${named}"`);
};

const withChecks = async (
  { db, readGrade }: Parts,
  projectId: string,
  sessions: readonly ComparedSession[],
): Promise<PlayedSession[]> => {
  const played: PlayedSession[] = [];
  for (let at = 0; at < sessions.length; at += gradesAtOnce) {
    const some = sessions.slice(at, at + gradesAtOnce);
    const rows = await readGrades(
      db,
      some.map(({ id }) => id),
    );
    const texts = new Map(rows.map(({ id, gradeJson }) => [id, gradeJson]));
    for (const session of some) {
      const text = texts.get(session.id);
      const grade = text === undefined ? undefined : await readGrade(text, projectId);
      played.push({ ...session, checks: grade?.checks ?? [] });
    }
  }
  return played;
};

/** Returns the sessions of a build to compare; `isCut` is true if the build has older sessions that are left out. */
const readPlayed = async (parts: Parts, projectId: string, { id }: BuildRow) => {
  const found = await listCompared(parts.db, projectId, id, mostSessions + 1);
  const isCut = found.length > mostSessions;
  const sessions = await withChecks(parts, projectId, isCut ? found.slice(1) : found);
  return { sessions, isCut };
};

const count = ({ flips }: Comparison, verdict: 'pass' | 'fail'): number =>
  flips.filter(({ candidate }) => candidate.verdict === verdict).length;

/** Compares two builds. Each is named by its id or hash, or by its agent together with a label or version. */
export const compare = async (
  parts: Parts,
  projectId: string,
  asked: Asked,
): Promise<BuildComparison> => {
  const base = await getNamed(parts, projectId, asked, asked.base);
  const candidate = await getNamed(parts, projectId, asked, asked.candidate);
  const before = await readPlayed(parts, projectId, base);
  const after = await readPlayed(parts, projectId, candidate);
  const compared = compareBuilds(before.sessions, after.sessions);
  const { total, tasks, flips } = compared;
  return {
    ...{ base: viewRef(base), candidate: viewRef(candidate), total, tasks },
    ...{ flips: flips.slice(0, mostFlips), flippedToPass: count(compared, 'pass') },
    ...{ flippedToFail: count(compared, 'fail'), olderLeftOut: before.isCut || after.isCut },
  };
};

/**
 * Caches the last grade of a session, so that further pages of the changes are read without grading again. The grade is
 * valid until something happens that the grader could see. A grade whose changes are too large is not cached.
 */
import type { Session } from '../session/session.ts';
import type { ExplainedChanges } from './changes/grade-changes.ts';

/**
 * Fingerprint of what a grader judges: a list of values, at least one of which changes whenever the judged state
 * changes.
 */
export type GradedState = readonly unknown[];

/** Grade without the changes, which are read page by page. */
export type CachedGrade<Head> = { head: Head; changes: ExplainedChanges | undefined };

/** Maximum size of the changed rows of a cached grade, in bytes. */
const mostBytes = 8 * 1024 * 1024;

/** Grades by session; an entry is garbage-collected with its session. */
const grades = new WeakMap<Session, CachedGrade<unknown> & { state: GradedState }>();

/** Returns the fingerprint of a session's state. Call it while nothing changes the rows. */
export const stateOf = (
  { world, links, ledger, answer }: Session,
  grader: unknown,
): GradedState => [
  grader,
  answer,
  ledger,
  ledger.lastId(),
  world.store.versions.latest(),
  ...[...links.values()].map((linked) => linked.world.store.versions.latest()),
];

/**
 * Caches the grade of a state, in place of the previous grade. Caches nothing if the changes were not read, or are too
 * large.
 */
export const cacheGrade = <Head>(
  session: Session,
  state: GradedState | undefined,
  grade: CachedGrade<Head>,
): void => {
  grades.delete(session);
  const { changes } = grade;
  if (state === undefined || changes === undefined || changes.bytes > mostBytes) return;
  grades.set(session, { ...grade, state });
};

/**
 * Returns the cached grade if it is still valid for the present state; undefined otherwise. The type of the head is up
 * to the caller, which also stores the grades.
 */
export const findGrade = async <Head>(
  session: Session,
  grader: unknown,
): Promise<CachedGrade<Head> | undefined> => {
  const cached = grades.get(session);
  if (cached === undefined) return undefined;
  const now = await session.world.store.exclusively(() => stateOf(session, grader));
  if (now.every((part, index) => part === cached.state[index])) return cached as CachedGrade<Head>;
  grades.delete(session);
  return undefined;
};

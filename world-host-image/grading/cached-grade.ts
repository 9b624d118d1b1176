/**
 * Caches the last grade of a session, so that further pages of the changes are read without grading again. The grade
 * is valid as long as nothing has happened that a grader could see, and is cached only up to a size.
 */
import type { Session } from '../session/session.ts';
import type { ExplainedChanges } from './changes/grade-changes.ts';

/** Fingerprint of what a grader judges: values that change whenever it does. */
export type GradedState = readonly unknown[];

/** Grade without the changes, which are read page by page. */
export type CachedGrade<Head> = { head: Head; changes: ExplainedChanges | undefined };

/** Maximum size of the changed rows of a cached grade. */
const mostBytes = 8 * 1024 * 1024;

/** Grades by session; an entry is collected with its session. */
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
 * Caches the grade of a state, in place of the last one. Caches none if the changes were not read, or are too large.
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
 * Returns the cached grade of the present state. The caller, which also caches the grades, knows the type of their
 * heads.
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

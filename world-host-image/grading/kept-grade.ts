/**
 * The last grade of a session, kept so that pages of what changed are read and not graded again: for as long as nothing
 * has happened since that a grader could see, and where it takes no more than so many bytes.
 */
import type { Session } from '../session/session.ts';
import type { ExplainedChanges } from './changes/grade-changes.ts';

/** What a grader judges by, told by what changes with it. */
export type GradedState = readonly unknown[];

/** A grade without what changed, which is told page by page. */
export type KeptGrade<Head> = { head: Head; changes: ExplainedChanges | undefined };

/** What the changed rows of a kept grade may take. */
const mostBytes = 8 * 1024 * 1024;

/** Gone when nothing else knows the session. */
const grades = new WeakMap<Session, KeptGrade<unknown> & { state: GradedState }>();

/** The state of a session at one moment; to be read while nothing changes the rows. */
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

/** Keeps a grade of a state, in place of the last one; none where nobody looked at what changed. */
export const keepGrade = <Head>(
  session: Session,
  state: GradedState | undefined,
  grade: KeptGrade<Head>,
): void => {
  grades.delete(session);
  const { changes } = grade;
  if (state === undefined || changes === undefined || changes.bytes > mostBytes) return;
  grades.set(session, { ...grade, state });
};

/** The grade that was kept of the present state. Who keeps grades of a session knows what their heads are. */
export const findGrade = async <Head>(
  session: Session,
  grader: unknown,
): Promise<KeptGrade<Head> | undefined> => {
  const kept = grades.get(session);
  if (kept === undefined) return undefined;
  const now = await session.world.store.exclusively(() => stateOf(session, grader));
  if (now.every((part, index) => part === kept.state[index])) return kept as KeptGrade<Head>;
  grades.delete(session);
  return undefined;
};

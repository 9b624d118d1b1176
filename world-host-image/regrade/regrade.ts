/**
 * Grades the session of an archive again. The world is loaded and seeded as for the session, and the archived changes
 * are applied. The task's grader then judges that state with the archived ledger, answer and time.
 */
import { AppError } from '#domain/error.ts';
import type { Assignment } from '#wire/host-api/assignment.ts';
import type { ArchiveHead, ChangeLine } from '#wire/host-api/session-archive.ts';
import { keepChanges } from '../folder/keep-changes.ts';
import type { OwnLoader } from '../folder/loader.ts';
import { gradeSession } from '../grading/grade.ts';
import { openLedger } from '../ledger/ledger.ts';
import { createClock } from '../session/clock.ts';
import { openSession } from '../session/open-session.ts';
import type { Session } from '../session/session.ts';
import type { Archive } from './archive.ts';

const assignmentOf = ({ head, task }: Archive): Assignment => ({
  sessionId: head.session.id,
  generation: 1,
  // No surface is served, so this token is never used.
  sessionToken: head.session.id,
  worldSlug: head.world.slug,
  bundle: head.world.bundle,
  snapshot: head.world.snapshot,
  blobs: {},
  task,
  surfaces: [],
  clock: head.session.clock,
  seed: head.session.seed,
  links: head.links.map(({ slug, ...link }) => ({ ...link, worldSlug: slug, blobs: {} })),
});

const differs = (what: string): AppError =>
  new AppError('invalid', `the parts of the archive do not belong together: ${what}`);

/** Restores the archived state of a world, and verifies it by its digest. */
const restore = async (
  { world }: Session,
  changes: readonly ChangeLine[],
  { digest, name }: { digest: string; name: string },
): Promise<void> => {
  const { leftOut } = await keepChanges(world, changes);
  const [first] = leftOut;
  if (first !== undefined) {
    throw differs(
      `${first.entity} ${first.key} of ${name} cannot be ${first.change}: ${first.reason}`,
    );
  }
  if (world.store.digest() === digest) return;
  throw differs(`the rows of ${name} do not come to the digest that it names`);
};

const restoreAll = async (
  session: Session,
  changes: readonly ChangeLine[],
  { state }: ArchiveHead,
): Promise<void> => {
  const of = (alias: string | null) => changes.filter(({ world }) => world === alias);
  await restore(session, of(null), { digest: state.digest, name: 'its world' });
  for (const [alias, linked] of session.links) {
    const digest = state.links[alias]?.digest ?? '';
    await restore(linked, of(alias), { digest, name: `the linked world "${alias}"` });
  }
};

/**
 * Returns the grade as text, in the format of archives; `null` for a session without a grader.
 *
 * @throws `invalid` if the parts of the archive do not belong together.
 */
export const regrade = async (archive: Archive, worlds: OwnLoader): Promise<string> => {
  const { head, changes, ledger: exported, task } = archive;
  const loader = await worlds.open(task?.grader?.kind === 'python');
  const opened = await openSession(loader, assignmentOf(archive));
  const ledger = openLedger({ exported });
  const clock = createClock({ at: head.state.at, mode: 'frozen', rate: 1 });
  const session: Session = { ...opened, ledger, clock, answer: head.state.answer };
  try {
    await restoreAll(session, changes, head);
    const grader = task?.grader;
    const grade = grader === undefined ? null : await gradeSession(session, grader);
    return JSON.stringify(grade, null, 2);
  } finally {
    ledger.close();
    opened.ledger.close();
    await loader.releaseLinked();
    await loader.release();
  }
};

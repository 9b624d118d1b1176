/**
 * Journal of the calls that this host has run for its session. It ensures that a call runs at most once: a call that
 * is handed out again is not run, and its answer is repeated.
 *
 * Calls come in the order of their `seq`. Only the latest answers are kept. A call without one whose `seq` is at or
 * below the highest seen is known to have run before.
 */
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';

export type JournalEntry =
  | { kind: 'new' }
  | { kind: 'answered'; answer: CallAnswer }
  /** The call was answered, and its answer is no longer kept. */
  | { kind: 'forgotten' };

export type Journal = {
  look(call: Pick<HostCall, 'id' | 'seq'>): JournalEntry;
  answered(call: Pick<HostCall, 'id' | 'seq'>, answer: CallAnswer): void;
};

/** Number of answers kept. The control plane repeats only its last call, so a few are enough. */
const keptAnswers = 16;

export const createJournal = (): Journal => {
  const answers = new Map<string, CallAnswer>();
  let highestSeq = 0;
  return {
    look({ id, seq }) {
      const answer = answers.get(id);
      if (answer !== undefined) return { kind: 'answered', answer };
      return seq <= highestSeq ? { kind: 'forgotten' } : { kind: 'new' };
    },
    answered({ id, seq }, answer) {
      answers.set(id, answer);
      highestSeq = Math.max(highestSeq, seq);
      const [oldest] = answers.keys();
      if (answers.size > keptAnswers && oldest !== undefined) answers.delete(oldest);
    },
  };
};

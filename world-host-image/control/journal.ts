/**
 * Journal of the calls that this host has run for its session. It ensures that a call runs at most once: if the control
 * plane sends a call again, the call is not run, and its answer is repeated.
 *
 * Calls arrive in the order of their `seq`. Only the latest answers are stored. If a call has no stored answer but its
 * `seq` is not above the highest one seen, it has run before.
 */
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';

export type JournalEntry =
  | { kind: 'new' }
  | { kind: 'answered'; answer: CallAnswer }
  /** The call was answered, and its answer is no longer stored. */
  | { kind: 'forgotten' };

export type Journal = {
  look(call: Pick<HostCall, 'id' | 'seq'>): JournalEntry;
  answered(call: Pick<HostCall, 'id' | 'seq'>, answer: CallAnswer): void;
};

/** Number of answers that are stored. The control plane repeats only its last call, so a few are enough. */
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

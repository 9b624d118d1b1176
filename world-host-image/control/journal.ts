/**
 * What this host has done with the calls of its session: the ground on which a call runs at most once.
 * A call that is handed out again is not run again; its answer is repeated.
 *
 * Calls come in the order of their `seq`. Old answers are dropped once acknowledged, and a call at or
 * below the highest `seq` seen is then still known to have been here.
 */
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';

export type JournalEntry =
  | { kind: 'new' }
  | { kind: 'answered'; answer: CallAnswer }
  /** It was answered and acknowledged long ago. */
  | { kind: 'forgotten' };

export type Journal = {
  look(call: Pick<HostCall, 'id' | 'seq'>): JournalEntry;
  answered(call: Pick<HostCall, 'id' | 'seq'>, answer: CallAnswer): void;
};

/** The control plane asks again only for its last call, so few answers are worth their memory. */
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

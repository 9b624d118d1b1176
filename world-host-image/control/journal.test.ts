import { expect, it } from 'vitest';
import { createJournal } from './journal.ts';

const call = (seq: number) => ({ id: `call-${seq}`, seq });

it('a journal recognizes every call that the host has answered', () => {
  const journal = createJournal();
  expect(journal.look(call(1))).toEqual({ kind: 'new' });
  for (let seq = 1; seq <= 100; seq += 1) {
    journal.answered(call(seq), { output: seq, changes: {} });
  }
  expect(journal.look(call(100))).toEqual({
    kind: 'answered',
    answer: { output: 100, changes: {} },
  });
  expect(journal.look(call(1))).toEqual({ kind: 'forgotten' });
  expect(journal.look(call(101))).toEqual({ kind: 'new' });
});

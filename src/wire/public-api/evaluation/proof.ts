/** Answer of a call of the kind `prove`: the results of the attempts with which a proof tests a task's grader. */
import { nullable, oneOf } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

export const proofKinds = ['idle', 'solution', 'step', 'change', 'names'] as const;

/** One attempt of a proof. */
export const ProofRow = Type.Object({
  kind: oneOf(
    proofKinds,
    'idle: nothing is done; solution: one is carried out; step: one is left out of it; change: the end state is changed; names: what the instruction and the grader name',
  ),
  what: Type.String({ description: 'what was tried, in words' }),
  expected: oneOf(['pass', 'fail']),
  verdict: nullable(
    oneOf(
      ['pass', 'fail', 'unknown'],
      'of the grade, or of the one check that should see a change; null: it was not tried',
    ),
  ),
  ok: Type.Boolean({ description: 'whether the result is that of a sound task' }),
  detail: nullable(Type.String()),
});
export type ProofRow = Static<typeof ProofRow>;

export const Proof = Type.Object({
  passed: Type.Boolean({ description: 'whether all rows are ok' }),
  summary: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'number of rows, and how many of them are ok',
  }),
  rows: Type.Array(ProofRow),
  notGraded: Type.Array(Type.String(), {
    description: 'steps that change something and without which the task still passes',
  }),
  neverBites: Type.Array(Type.String(), {
    description: 'checks that passed whatever was tried',
  }),
});
export type Proof = Static<typeof Proof>;

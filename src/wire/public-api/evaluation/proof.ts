/** Answer of a call of the kind `prove`: the results of the attempts by which a proof tests a task's grader. */
import { nullable, oneOf } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

export const proofKinds = ['idle', 'solution', 'step', 'change', 'names'] as const;

/** One attempt of a proof. */
export const ProofRow = Type.Object({
  kind: oneOf(
    proofKinds,
    'kind of the attempt: idle: nothing is done; solution: a solution is carried out; step: a solution is carried out without one of its steps; change: the end state is changed; names: the names in the instruction are compared with those in the grader',
  ),
  what: Type.String({ description: 'description of the attempt, for people' }),
  expected: oneOf(['pass', 'fail']),
  verdict: nullable(
    oneOf(
      ['pass', 'fail', 'unknown'],
      'verdict of the grade, or of the one check that should notice the change; null: the attempt was not made',
    ),
  ),
  ok: Type.Boolean({ description: 'whether this is the result that a sound task has' }),
  detail: nullable(Type.String()),
});
export type ProofRow = Static<typeof ProofRow>;

export const Proof = Type.Object({
  passed: Type.Boolean({ description: 'whether the results of all attempts are ok' }),
  summary: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'number of attempts, and number of those that are ok',
  }),
  rows: Type.Array(ProofRow),
  notGraded: Type.Array(Type.String(), {
    description:
      'steps of the solution that change something, but without which the task still passes',
  }),
  neverBites: Type.Array(Type.String(), {
    description: 'checks that passed in every attempt',
  }),
});
export type Proof = Static<typeof Proof>;

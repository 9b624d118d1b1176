/** Operations on proofs of tasks. */

import { limits } from '#domain/limits.ts';
import { getOperation, operation } from '../../operation.ts';
import { Id, IdempotencyHeaders, nullable, WaitSeconds } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { WorldParams } from '../worlds/version.ts';
import { Proof } from './proof.ts';
import { RunParams, TestRunView } from './test-run.ts';

export const ProveBody = Type.Object(
  {
    task: Type.Union(
      [
        Type.String({ minLength: 1, maxLength: limits.nameChars }),
        Type.Object(
          { id: Id, version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })) },
          { additionalProperties: false },
        ),
      ],
      { description: 'the name of a task of the version, or of a stored task' },
    ),
    wait: Type.Optional(
      Type.Boolean({
        description:
          'whether the answer is held until the proof is finished, for 55 s at most; default true',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ProveBody = Static<typeof ProveBody>;

export const ProofRunDetail = Type.Interface([TestRunView], { report: nullable(Proof) });
export type ProofRunDetail = Static<typeof ProofRunDetail>;

export const proveTask = operation({
  id: 'proveTask',
  summary: "Prove that the grader of a world's task tells right solutions from wrong ones",
  method: 'POST',
  path: '/worlds/{slug}/proofs',
  access: 'write',
  tools: [{ name: 'prove_world_task' }],
  params: WorldParams,
  headers: IdempotencyHeaders,
  body: ProveBody,
  answers: { 200: ProofRunDetail, 202: ProofRunDetail },
  refusals: { 429: 'Too many runs of the project are queued; `limit` is the maximum.' },
});

// A proof reveals how a task is solved, so a public key must not read it.
export const getProof = getOperation({
  id: 'getProof',
  summary: 'One proof of a task, with its report',
  path: '/worlds/{slug}/proofs/{runId}',
  access: 'write',
  tools: [{ name: 'get_world_task_proof' }],
  params: RunParams,
  query: Type.Object({ wait: WaitSeconds }, { additionalProperties: false }),
  answer: ProofRunDetail,
});

/**
 * Problems that compiling a changed tree cannot produce: those of edits, and those about the check itself. Edits of the
 * small world produce the former; the latter are listed here.
 */
import { addEntity } from '#language/edit/add-entity.ts';
import type { EditResult } from '#language/edit/change.ts';
import { reconcile } from '#language/edit/reconcile/reconcile.ts';
import { removeEntity } from '#language/edit/remove-entity.ts';
import type { Problem } from '#language/problem.ts';
import type { ProblemCode } from '#language/read/codes.ts';
import { smallWorld, textFile, toTree } from '../../support/worlds/small-world.ts';

const ofTheWhole = (code: ProblemCode, message: string, hint?: string): [ProblemCode, Problem] => [
  code,
  { file: '', pointer: '', code, message, ...(hint === undefined ? {} : { hint }) },
];

/** Returns the first problem of a refused edit; throws if the edit is accepted, or refused for another reason. */
const ofEdit = (code: ProblemCode, result: EditResult): [ProblemCode, Problem] => {
  const problem = result.ok ? undefined : result.problems[0];
  if (problem?.code !== code) throw new Error(`the edit is not refused as ${code}`);
  return [code, problem];
};

const board = toTree(smallWorld());

const keyless = textFile(
  'captures/list_lists/1.json',
  JSON.stringify({
    operation: 'list_lists',
    arguments: {},
    status: 200,
    body: { data: { lists: [{ name: 'Next' }] } },
  }),
);

const simpler = 'reduce the rows of the tree, or simplify its schemas';

export const otherwise: ReadonlyMap<ProblemCode, Problem> = new Map([
  ofEdit('entity_exists', addEntity(board, { name: 'cards' })),
  ofEdit('entity_in_use', removeEntity(board, 'lists')),
  ofEdit('unusable_capture', reconcile([...board, keyless])),
  ofTheWhole('more_problems', 'there are 12 more problems that are not listed'),
  ofTheWhole('out_of_time', 'compiling the world took longer than 20 s', simpler),
  ofTheWhole('out_of_memory', 'compiling the world took more than 512 MiB of memory', simpler),
]);

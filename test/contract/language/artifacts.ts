/** Corpus chapter about generated files in a tree: each is exactly the output of the compiler, or is absent. */
import type { TreeFile } from '#domain/world.ts';
import { staleProblems } from '#language/artifacts/state.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Problem } from '#language/problem.ts';
import { toTree } from '../../support/worlds/small-world.ts';
import { asItIs, type Change, drop, put } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

/** Builds a change that compiles the world, adds the generated files to it, and then changes the world further. */
const compiledThen =
  (change: Change): Change =>
  (world) => {
    const compiled = compileTree(toTree(world));
    if (!compiled.ok) throw new Error('the small world does not compile');
    for (const { path, content } of compiled.generated) {
      world.text[path] = new TextDecoder().decode(content);
    }
    change(world);
  };

const judge = (files: readonly TreeFile[]): Problem[] => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled.problems;
  const { contract, generated } = compiled;
  return staleProblems({ files, generated, contract });
};

export const artifactsRules: Chapter = {
  title: 'Generated files',
  judge,
  rules: [
    {
      rule: 'A world that was compiled holds what compiling it writes now.',
      accepts: [
        ['a world just compiled', compiledThen(asItIs)],
        ['a world never compiled', asItIs],
        ['notes of one’s own', compiledThen(put('README.md', '# Mine'))],
      ],
      refuses: [
        ['a generated file removed', 'stale_artifact', compiledThen(drop('tool-schemas.json'))],
      ],
    },
    {
      rule: 'Generated files are not written by hand.',
      accepts: [['none of them', asItIs]],
      refuses: [
        [
          'a generated file changed',
          'edited_artifact',
          compiledThen((world) => {
            world.text['db/schema.sql'] += '-- mine\n';
          }),
        ],
      ],
    },
  ],
};

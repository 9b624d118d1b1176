/** Formats the problems that the compiler finds in the trees of the corpus, as a person reads them at a terminal. */
import picocolors from 'picocolors';
import type { TreeFile } from '#domain/world.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Problem } from '#language/problem.ts';
import { formatProblem } from '../../../src/cli/views/problem.ts';
import { smallWorld, toTree } from '../../support/worlds/small-world.ts';
import type { Change } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

const view = { colors: picocolors.createColors(false), columns: 100 };

const compileProblems = (tree: readonly TreeFile[]): Problem[] => {
  const compiled = compileTree(tree);
  return compiled.ok ? [] : compiled.problems;
};

export type Judged = { tree: readonly TreeFile[]; problems: readonly Problem[] };

const judgedBefore = new WeakMap<Chapter, Map<Change, Judged>>();

/** Returns the small world after a change, and the problems that a chapter finds in it. They are computed only once. */
export const problemsAfter = (change: Change, chapter: Chapter): Judged => {
  const known = judgedBefore.get(chapter) ?? new Map<Change, Judged>();
  judgedBefore.set(chapter, known);
  const before = known.get(change);
  if (before !== undefined) return before;
  const world = smallWorld();
  change(world);
  const tree = toTree(world);
  const judged = { tree, problems: (chapter.judge ?? compileProblems)(tree) };
  known.set(change, judged);
  return judged;
};

/** Formats one problem with the line at fault. */
export const tellProblem = (problem: Problem, tree: readonly TreeFile[]): string[] => {
  const source = tree.find(({ path }) => path === problem.file);
  const text = source && new TextDecoder().decode(source.content);
  return formatProblem(problem, text, view);
};

const tellCase = (what: string, change: Change, chapter: Chapter): string[] => {
  const { tree, problems } = problemsAfter(change, chapter);
  const result = problems.flatMap((problem) => [
    ...tellProblem(problem, tree),
    `at ${JSON.stringify(problem.pointer)}`,
  ]);
  return ['', `== ${what}`, ...result];
};

/** Formats every refusal of a chapter exactly as its golden file has it. */
export const tellChapter = (chapter: Chapter): string => {
  const lines = chapter.rules.flatMap(({ rule, refuses }) => [
    '',
    `# ${rule}`,
    ...refuses.flatMap(([what, , change]) => tellCase(what, change, chapter)),
  ]);
  return `${[`${chapter.title}: refused trees, and their messages.`, ...lines].join('\n')}\n`;
};

/**
 * Compares the generated files in a tree with the files that compiling writes now, and reports which are missing, out
 * of date, or edited. The comparison uses the bytes of a file and the tree's own `schema/lock.json`; a client may have
 * forged either.
 */
import { compareTexts } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from '../contract.ts';
import type { Problem } from '../problem.ts';
import type { ProblemCode } from '../read/codes.ts';
import { generatedPaths, lockPath } from '../read/paths.ts';
import { digestOf } from './digest.ts';
import { readLock } from './lock.ts';
import { isGeneratedPage, isPartOfPage } from './page.ts';

/**
 * State of a generated file. `current`: compiling writes the same bytes. `stale`: an earlier compilation wrote the
 * file, and this one writes other bytes or no such file. `edited`: the file is neither current nor stale.
 */
export type GeneratedFile = {
  path: string;
  state: 'current' | 'missing' | 'stale' | 'edited';
};

/** Files of a tree, and the result of compiling them. */
type CompiledTree = {
  files: readonly TreeFile[];
  generated: readonly TreeFile[];
  contract: Pick<Contract, 'ui'>;
};

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

const stateOf = (
  { path, content }: TreeFile,
  standing: Uint8Array | undefined,
  recorded: ReadonlyMap<string, unknown> | undefined,
): GeneratedFile['state'] => {
  if (standing === undefined) return 'missing';
  if (isSame(standing, content)) return 'current';
  const isOurs =
    path === lockPath ? recorded !== undefined : recorded?.get(path) === digestOf(standing);
  return isOurs ? 'stale' : 'edited';
};

/**
 * Returns the paths of files that an earlier compilation wrote and this one does not. They are files with fixed paths,
 * and unchanged pages with the files next to them, in places where the world has no page now.
 */
const leftOvers = (
  { files, generated, contract }: CompiledTree,
  recorded: ReadonlyMap<string, unknown>,
): string[] => {
  const written = new Set(generated.map(({ path }) => path));
  // A page that its author changed may still need the parts beside it.
  const isOfPage = (path: string): boolean =>
    contract.ui !== null && path.startsWith(`${contract.ui.static}/`);
  const isOurs = ({ path, content }: TreeFile): boolean => {
    if (generatedPaths.some((fixed) => fixed === path)) return true;
    if (isOfPage(path)) return false;
    return isPartOfPage(path) ? recorded.get(path) === digestOf(content) : isGeneratedPage(content);
  };
  return files
    .filter((file) => recorded.has(file.path) && !written.has(file.path) && isOurs(file))
    .map(({ path }) => path);
};

/** Returns the state of each generated file, sorted by path. A UI page written by hand is not included. */
export const generatedState = (tree: CompiledTree): GeneratedFile[] => {
  const { files, generated } = tree;
  const standing = new Map(files.map(({ path, content }) => [path, content]));
  const lock = standing.get(lockPath);
  const recorded = lock === undefined ? undefined : readLock(lock);
  const leftOver = recorded === undefined ? [] : leftOvers(tree, recorded);
  const states = [
    ...generated.map((file) => ({
      path: file.path,
      state: stateOf(file, standing.get(file.path), recorded),
    })),
    ...leftOver.map((path) => ({ path, state: 'stale' as const })),
  ];
  return states.sort((a, b) => compareTexts(a.path, b.path));
};

const compileHint = 'run svc worlds schema compile on the folder';

type Fault = 'stale' | 'left_over' | 'edited';

/** Messages for generated files that are not current: for one file, for several files, and the way out. */
const verdicts: Record<Fault, { code: ProblemCode; one: string; more: string; hint: string }> = {
  stale: {
    code: 'stale_artifact',
    one: 'is a generated file that is missing, or was compiled from other files or by another version',
    more: 'are generated files that are missing, or were compiled from other files or by another version',
    hint: compileHint,
  },
  left_over: {
    code: 'stale_artifact',
    one: 'is a file that compiling does not generate any more',
    more: 'are files that compiling does not generate any more',
    hint: 'delete it',
  },
  edited: {
    code: 'edited_artifact',
    one: 'is a generated file that was changed by hand',
    more: 'are generated files that were changed by hand',
    hint: `${compileHint}, which replaces the changed file; move your changes to another file`,
  },
};

/**
 * Returns one problem for each kind of generated files that are not current, because one change of a tree makes many of
 * them stale at once. A tree without `schema/lock.json` was never compiled; in such a tree, missing files are no
 * problem.
 */
export const staleProblems = (tree: CompiledTree): Problem[] => {
  const isCompiled = tree.files.some(({ path }) => path === lockPath);
  const written = new Set(tree.generated.map(({ path }) => path));
  const faultOf = ({ path, state }: GeneratedFile): Fault | undefined => {
    if (state === 'current' || (state === 'missing' && !isCompiled)) return undefined;
    if (state === 'edited') return 'edited';
    return written.has(path) ? 'stale' : 'left_over';
  };
  const byFault = Map.groupBy(generatedState(tree), faultOf);
  return [...byFault].flatMap(([fault, files]): Problem[] => {
    const [first] = files;
    if (fault === undefined || first === undefined) return [];
    const { code, one, more, hint } = verdicts[fault];
    const message = `${files.map(({ path }) => path).join(', ')} ${files.length === 1 ? one : more}`;
    const way = fault === 'left_over' && files.length > 1 ? 'delete them' : hint;
    return [{ file: first.path, pointer: '', code, message, hint: way }];
  });
};

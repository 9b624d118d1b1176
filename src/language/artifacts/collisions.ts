/**
 * Files of a tree that cannot stand beside the generated ones: some file system would take both for
 * one, or one would have to be a folder and a file at once.
 */
import { foldPath, showPath } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '../problem.ts';

const foldersOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/** A `bad_path` problem for each such file, in the order of the files. */
export const artifactCollisions = ({
  files,
  generated,
}: {
  files: readonly TreeFile[];
  generated: readonly TreeFile[];
}): Problem[] => {
  const byFolded = new Map(generated.map(({ path }) => [foldPath(path), path]));
  const folders = new Map(
    generated.flatMap(({ path }) => foldersOf(path).map((folder) => [foldPath(folder), path])),
  );
  const faultOf = (path: string): string | undefined => {
    const twin = byFolded.get(foldPath(path));
    if (twin !== undefined && twin !== path) return `differs from the generated ${twin} by case`;
    const inside = folders.get(foldPath(path));
    if (inside !== undefined)
      return `is a file where the folder of the generated ${inside} must be`;
    const above = foldersOf(path).find((folder) => byFolded.has(foldPath(folder)));
    return above && `lies below ${above}, which is a generated file`;
  };
  return files.flatMap(({ path }): Problem[] => {
    const fault = faultOf(path);
    if (fault === undefined) return [];
    const message = `the path ${showPath(path)} ${fault}`;
    return [{ file: path, pointer: '', code: 'bad_path', message, hint: 'rename the file' }];
  });
};

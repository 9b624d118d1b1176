/**
 * World tree as the checks use it: its files by path, decoded and parsed on demand. Paths and sizes are checked first;
 * a file with a bad path is refused and left out.
 */
import { limits } from '#domain/limits.ts';
import { createPathCheck, showPath } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import { languageLimits } from '../limits.ts';
import { type Document, parseJson, parseToml } from './document.ts';
import { createPlace, type Place, type Problems } from './place.ts';

export type Tree = {
  has(path: string): boolean;
  /** Returns the paths of the files below a folder, sorted; '' returns all paths. */
  paths(folder: string): string[];
  /**
   * Returns the file's text. Returns undefined if there is no such file, or if it is not UTF-8, which is then reported.
   */
  text(path: string): string | undefined;
  /**
   * Returns the parsed file. Returns undefined if `text` would, or if the syntax of the file is invalid, which is then
   * reported.
   */
  authoredJson(path: string): Document | undefined;
  json(path: string): Document | undefined;
  toml(path: string): Document | undefined;
  /** Returns the place of the whole file. */
  place(path: string): Place;
  readonly problems: Problems;
};

/** Orders files by path, then by content, because a tree may be in any order and may have a path twice. */
const compareFiles = (a: TreeFile, b: TreeFile): number =>
  a.path === b.path ? Buffer.compare(a.content, b.content) : a.path < b.path ? -1 : 1;

const acceptFiles = (files: readonly TreeFile[], problems: Problems): Map<string, Uint8Array> => {
  const accepted = new Map<string, Uint8Array>();
  const faultOf = createPathCheck();
  for (const { path, content } of [...files].sort(compareFiles)) {
    const fault = faultOf(path);
    if (fault === undefined) accepted.set(path, content);
    else createPlace(problems, path).refuse('bad_path', `the path ${showPath(path)} ${fault}`);
  }
  return accepted;
};

const isWithinLimits = (files: readonly TreeFile[], problems: Problems): boolean => {
  const before = problems.count();
  const total = files.reduce((sum, { content }) => sum + content.byteLength, 0);
  const tree = createPlace(problems, '');
  if (files.length > limits.treeFiles) {
    const message = `the tree has ${files.length} files, more than ${limits.treeFiles}`;
    tree.refuse('too_many_files', message);
  }
  if (total > limits.treeBytes) {
    const message = `the tree has ${total} bytes, more than ${limits.treeBytes}`;
    tree.refuse('tree_too_large', message);
  }
  for (const { path, content } of files) {
    if (content.byteLength <= limits.treeFileBytes) continue;
    const message = `${showPath(path)} has ${content.byteLength} bytes, more than ${limits.treeFileBytes}`;
    createPlace(problems, path).refuse('file_too_large', message);
  }
  return problems.count() === before;
};

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
};

/** Opens a tree. If the tree is too large, reports that and returns undefined. */
export const openTree = (files: readonly TreeFile[], problems: Problems): Tree | undefined => {
  if (!isWithinLimits(files, problems)) return undefined;
  const contents = acceptFiles(files, problems);
  const texts = new Map<string, string | undefined>();
  const place = (path: string): Place => createPlace(problems, path);
  const text = (path: string): string | undefined => {
    const content = contents.get(path);
    if (content === undefined || texts.has(path)) return texts.get(path);
    const decoded = decode(content);
    if (decoded === undefined) place(path).refuse('not_utf8', `${path} is not UTF-8 text`);
    texts.set(path, decoded);
    return decoded;
  };
  const parseWith =
    (parse: typeof parseJson, maxBytes: number) =>
    (path: string): Document | undefined => {
      const sizeBytes = contents.get(path)?.byteLength ?? 0;
      if (sizeBytes > maxBytes) {
        const message = `${path} has ${sizeBytes} bytes, more than ${maxBytes}`;
        place(path).refuse('file_too_large', message);
        return undefined;
      }
      const read = text(path);
      return read === undefined ? undefined : parse(problems, path, read);
    };
  return {
    has: (path) => contents.has(path),
    paths: (folder) => [...contents.keys()].filter((path) => path.startsWith(folder)),
    text,
    authoredJson: parseWith(parseJson, languageLimits.authoredFileBytes),
    json: parseWith(parseJson, limits.treeFileBytes),
    toml: parseWith(parseToml, languageLimits.authoredFileBytes),
    place,
    problems,
  };
};

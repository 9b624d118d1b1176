/**
 * A world tree as the checks see it: its files by path, decoded and parsed on demand. Paths and sizes
 * are judged first; a file with a bad path is refused and left out.
 */
import { limits } from '#domain/limits.ts';
import type { TreeFile } from '#domain/world.ts';
import { languageLimits } from '../limits.ts';
import { type Document, parseJson, parseToml } from './document.ts';
import { createPlace, type Place, type Problems } from './place.ts';

export type Tree = {
  has(path: string): boolean;
  /** Paths below a folder, sorted; '' for all. */
  paths(folder: string): string[];
  /** The file's text; undefined when there is no such file, or when it is not UTF-8, which is noted. */
  text(path: string): string | undefined;
  /** The file parsed; undefined as for `text`, and when the notation is broken, which is noted. */
  authoredJson(path: string): Document | undefined;
  json(path: string): Document | undefined;
  toml(path: string): Document | undefined;
  /** The whole file as a place. */
  place(path: string): Place;
  readonly problems: Problems;
};

const maxPathLength = 512;

const pathFault = (path: string): string | undefined => {
  if (path === '' || path.length > maxPathLength)
    return `must have 1 to ${maxPathLength} characters`;
  if (path.includes('\\')) return 'must separate folders by "/"';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'must hold no control character';
  if (!path.isWellFormed()) return 'must be well-formed Unicode';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'must be relative';
  const segments = path.split('/');
  if (segments.includes('..') || segments.includes('.')) return 'must not hold "." or ".."';
  return segments.includes('') ? 'must not hold empty segments' : undefined;
};

/** Equal for paths that some file system would take for one. */
const foldPath = (path: string): string => path.normalize('NFC').toLowerCase();

const showPath = (path: string): string => JSON.stringify(path.slice(0, 200));

const foldersOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/** By path, then by content: a tree may be given in any order, and may name a file twice. */
const compareFiles = (a: TreeFile, b: TreeFile): number =>
  a.path === b.path ? Buffer.compare(a.content, b.content) : a.path < b.path ? -1 : 1;

const acceptFiles = (files: readonly TreeFile[], problems: Problems): Map<string, Uint8Array> => {
  const accepted = new Map<string, Uint8Array>();
  const byFolded = new Map<string, string>();
  const folders = new Set<string>();
  const sorted = [...files].sort(compareFiles);
  for (const { path, content } of sorted) {
    const refuse = (message: string): void =>
      createPlace(problems, path).refuse('bad_path', `the path ${showPath(path)} ${message}`);
    const fault = pathFault(path);
    const twin = byFolded.get(foldPath(path));
    const parents = foldersOf(path).map(foldPath);
    if (fault !== undefined) refuse(fault);
    else if (twin === path) refuse('is there more than once');
    else if (twin !== undefined) refuse(`differs from ${showPath(twin)} at most by case`);
    else if (folders.has(foldPath(path))) refuse('is also a folder');
    else if (parents.some((folder) => byFolded.has(folder))) refuse('lies below a file');
    else {
      accepted.set(path, content);
      byFolded.set(foldPath(path), path);
      for (const folder of parents) folders.add(folder);
    }
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

/** Opens a tree, or notes that it is too large to be looked at. */
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

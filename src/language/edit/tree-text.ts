/** Reads texts in the files of a tree and writes them back as bytes. A byte order mark is kept. */
import type { TreeFile } from '#domain/world.ts';

const encoder = new TextEncoder();
const byteOrderMark = '\ufeff';

const fileAt = (files: readonly TreeFile[], path: string): TreeFile | undefined =>
  files.find((file) => file.path === path);

const decode = (content: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);

export const textFile = (path: string, text: string): TreeFile => ({
  path,
  content: encoder.encode(text),
});

/** Returns the text of a file; '' if there is no such file. */
export const textAt = (files: readonly TreeFile[], path: string): string => {
  const file = fileAt(files, path);
  return file === undefined ? '' : new TextDecoder().decode(file.content);
};

/** Returns the file with a changed text; `change` computes the new text from the old. */
export const editText = (file: TreeFile, change: (text: string) => string): TreeFile => {
  const text = decode(file.content);
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : '';
  return textFile(file.path, mark + change(text.slice(mark.length)));
};

/** Returns the tree with some of its files replaced and new files added. */
export const replaceFiles = (
  files: readonly TreeFile[],
  replacements: readonly TreeFile[],
): TreeFile[] => {
  const paths = new Set(replacements.map(({ path }) => path));
  return [...files.filter(({ path }) => !paths.has(path)), ...replacements];
};

/** Returns the tree with one of its texts changed, and the changed file. */
export const editFile = (
  files: readonly TreeFile[],
  path: string,
  change: (text: string) => string,
): { file: TreeFile; tree: TreeFile[] } => {
  const before = fileAt(files, path);
  if (before === undefined) throw new Error(`the tree has no file ${path}`);
  const file = editText(before, change);
  return { file, tree: replaceFiles(files, [file]) };
};

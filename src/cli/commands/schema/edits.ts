/** What commands that edit a world have in common: write the changed files, and show what changed. */
import type { TreeFile } from '#domain/world.ts';
import type { Change } from '#language/edit/change.ts';
import { diffText } from '#language/edit/diff-text.ts';
import type { Colors } from '../../context.ts';

const decoder = new TextDecoder();

const textOf = (files: readonly TreeFile[], path: string): string =>
  decoder.decode(files.find((file) => file.path === path)?.content);

const colorLine = (line: string, colors: Colors): string => {
  if (line.startsWith('@@')) return colors.cyan(line);
  if (line.startsWith('+++') || line.startsWith('---')) return colors.bold(line);
  if (line.startsWith('+')) return colors.green(line);
  return line.startsWith('-') ? colors.red(line) : line;
};

/** The changed files as a unified diff. */
export const formatDiff = (
  before: readonly TreeFile[],
  changed: readonly TreeFile[],
  colors: Colors,
): string =>
  changed
    .map(({ path, content }) => diffText(textOf(before, path), decoder.decode(content), path))
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => colorLine(line, colors))
    .join('\n');

/** Each change with its place and its reason. */
export const formatReasons = (changes: readonly Change[]): string =>
  changes.map(({ file, pointer, reason }) => `  ${file}${pointer}: ${reason}`).join('\n');

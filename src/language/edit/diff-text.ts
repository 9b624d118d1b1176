/**
 * Builds a unified diff of two texts, as `diff -u` prints it. If the texts differ so much that the shortest difference
 * would take long to find, the diff replaces the whole text.
 */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';

/** Maximum number of changed lines for which the shortest difference is searched. */
const maxChanged = 2_000;

/** Returns each line with its sign. If the last line has no line end, the usual remark follows. */
const linesOf = (sign: '-' | '+', text: string): string[] => {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  const remark = text.endsWith('\n') ? [] : ['\\ No newline at end of file'];
  return [...lines.map((line) => sign + line), ...remark];
};

const countOf = (lines: readonly string[]): number =>
  lines.filter((line) => !line.startsWith('\\')).length;

const replacement = (before: string, after: string, file: string) => {
  const [old, now] = [linesOf('-', before), linesOf('+', after)];
  return {
    oldFileName: file,
    newFileName: file,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [
      {
        oldStart: 1,
        oldLines: countOf(old),
        newStart: 1,
        newLines: countOf(now),
        lines: [...old, ...now],
      },
    ],
  };
};

/**
 * Returns a unified diff with three lines around each change, and with a header if `file` is given; '' for equal texts.
 */
export const diffText = (before: string, after: string, file?: string): string => {
  if (before === after) return '';
  const name = file ?? '';
  const patch =
    structuredPatch(name, name, before, after, undefined, undefined, {
      context: 3,
      maxEditLength: maxChanged,
    }) ?? replacement(before, after, name);
  const printed = formatPatch(patch, FILE_HEADERS_ONLY);
  return file === undefined ? printed.replace(/^--- .*\n\+\+\+ .*\n/, '') : printed;
};

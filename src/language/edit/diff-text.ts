/**
 * The difference of two texts as a unified diff, as `diff -u` prints it. Texts so different that
 * finding the shortest difference would take long are shown as one replaced by the other.
 */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';

/** Lines added and removed up to which the shortest difference is looked for. */
const maxChanged = 2_000;

/** Each line with its sign, and the remark that the last has no end. */
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
 * A unified diff with three lines around each change, with a header when the file is named; '' for
 * equal texts.
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

/**
 * Formats problems of a world's files for a person: place, code and message; the line of the file with a mark, if the
 * file is available; and the hint.
 */

import { makeVisible } from '#domain/visible-text.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '#language/problem.ts';
import type { Colors } from '../terminal/context.ts';
import { excerptOf, lineOf } from './excerpt.ts';

export type ProblemDisplay = {
  colors: Colors;
  /** Number of columns of the terminal. */
  columns: number;
  /** Contents of the files that the problems are in, as far as they are available. */
  sources?: readonly TreeFile[];
};

/** Maximum number of problems shown for one file. The first ones usually cause the others. */
const shownPerFile = 8;

/** Minimum width in columns; a narrower terminal is treated as this wide. */
const leastColumns = 40;

const decoder = new TextDecoder();

const placeOf = ({ file, line, column, pointer }: Problem): string => {
  const place = [file, line, column].filter((part) => part !== undefined && part !== '').join(':');
  const isKnown = line !== undefined || pointer === '';
  return makeVisible(isKnown ? place : `${place} (at ${pointer})`);
};

/** Formats the line of the file and the mark below it, with a line number. */
const excerptLines = (
  { line, column }: Problem,
  text: string | undefined,
  { colors, columns }: ProblemDisplay,
): string[] => {
  const source = text === undefined || line === undefined ? undefined : lineOf(text, line);
  if (source === undefined || column === undefined) return [];
  const gutter = String(line).padStart(5);
  const lineColumns = Math.max(leastColumns, columns) - gutter.length - 3;
  const { text: shown, indent, length } = excerptOf(source, column, lineColumns);
  return [
    `${colors.dim(`${gutter} |`)} ${shown}`,
    `${colors.dim(`${' '.repeat(gutter.length)} |`)} ${' '.repeat(indent)}${colors.red('^'.repeat(length))}`,
  ];
};

/** Formats one problem; `text` is the contents of its file. */
export const formatProblem = (
  problem: Problem,
  text: string | undefined,
  view: ProblemDisplay,
): string[] => {
  const { colors } = view;
  const place = placeOf(problem);
  const code = colors.red(makeVisible(problem.code));
  const title = place === '' ? code : `${colors.bold(place)} ${code}`;
  const hint =
    problem.hint === undefined ? [] : [`${colors.dim('      =')} ${makeVisible(problem.hint)}`];
  return [
    `${title}: ${makeVisible(problem.message)}`,
    ...excerptLines(problem, text, view),
    ...hint,
  ];
};

const isRows = (file: string): boolean => /(?:^|\/)(?:data|seed)\//.test(file);

/**
 * Formats problems file by file. Files of rows come last, because a mistake in the contract causes problems in many
 * rows.
 */
export const formatProblems = (problems: readonly Problem[], view: ProblemDisplay): string[] => {
  const byFile = Map.groupBy(problems, ({ file }) => file);
  const files = [...byFile].sort(([a], [b]) => Number(isRows(a)) - Number(isRows(b)));
  return files.flatMap(([file, all]) => {
    const source = view.sources?.find(({ path }) => path === file);
    const text = source && decoder.decode(source.content);
    const shown = all.slice(0, shownPerFile);
    const more = all.length - shown.length;
    return [
      ...shown.flatMap((problem) => ['', ...formatProblem(problem, text, view)]),
      ...(more === 0 ? [] : ['', `${makeVisible(file)}: and ${more} more`]),
    ];
  });
};

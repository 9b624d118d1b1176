/**
 * Problems of a world's files as a person reads them, one below the other: the place, the code and
 * what is wrong; the line of the file with a mark under the place, where the file is at hand; and the
 * way out.
 */

import { makeVisible } from '#domain/visible-text.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '#language/problem.ts';
import type { Colors } from '../terminal/context.ts';
import { excerptOf, lineOf } from './excerpt.ts';

export type ProblemDisplay = {
  colors: Colors;
  /** Columns of the terminal. */
  columns: number;
  /** The files that the problems are about, as far as they are at hand. */
  sources?: readonly TreeFile[];
};

/** Problems shown of one file; the first ones usually bring the others about. */
const shownPerFile = 8;

/** Narrower terminals are taken to be this wide. */
const leastColumns = 40;

const decoder = new TextDecoder();

const placeOf = ({ file, line, column, pointer }: Problem): string => {
  const place = [file, line, column].filter((part) => part !== undefined && part !== '').join(':');
  const isKnown = line !== undefined || pointer === '';
  return makeVisible(isKnown ? place : `${place} (at ${pointer})`);
};

/** The line of the file with the mark, below one another behind a gutter. */
const excerptLines = (
  { line, column }: Problem,
  text: string | undefined,
  { colors, columns }: ProblemDisplay,
): string[] => {
  const source = text === undefined || line === undefined ? undefined : lineOf(text, line);
  if (source === undefined || column === undefined) return [];
  const gutter = String(line).padStart(5);
  const room = Math.max(leastColumns, columns) - gutter.length - 3;
  const { text: shown, indent, length } = excerptOf(source, column, room);
  return [
    `${colors.dim(`${gutter} |`)} ${shown}`,
    `${colors.dim(`${' '.repeat(gutter.length)} |`)} ${' '.repeat(indent)}${colors.red('^'.repeat(length))}`,
  ];
};

/** One problem; `text` is that of its file. */
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

/** Problems file by file, those of rows last: a mistake in the contract makes many rows wrong. */
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

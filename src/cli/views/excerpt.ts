/**
 * Formats one line of a file with a mark under a position in it, as compilers do. Widths are those of a terminal: tabs
 * become spaces, wide characters take two columns, and control characters are made visible. If the line is too long for
 * the terminal, the part around the mark is shown.
 */
import stringWidth from 'string-width';
import { makeVisible } from '#domain/visible-text.ts';

type Excerpt = {
  /** Line as it is displayed. */
  text: string;
  /** Number of columns before the mark, and of marked columns. */
  indent: number;
  length: number;
};

/** Displayed character: its offset in the line, its displayed form, and its number of columns. */
type Cell = { offset: number; shown: string; width: number };

const tabWidth = 4;

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

const cellsOf = (text: string, from: number, to: number): Cell[] => {
  const cells: Cell[] = [];
  let column = 0;
  for (const { segment, index } of segmenter.segment(text.slice(from, to))) {
    const isTab = segment === '\t';
    const shown = isTab ? ' '.repeat(tabWidth - (column % tabWidth)) : makeVisible(segment);
    const width = isTab ? shown.length : stringWidth(shown);
    cells.push({ offset: from + index, shown, width });
    column += width;
  }
  return cells;
};

/** Returns a line of a text, counted from 1, without its end; undefined if there are fewer lines. */
export const lineOf = (text: string, line: number): string | undefined => {
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) {
    start = text.indexOf('\n', start) + 1;
    if (start === 0) return undefined;
  }
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? undefined : end).replace(/\r$/, '');
};

const quoted = /"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'/y;
const word = /[\p{L}\p{N}_$./:+-]+/uy;
const stringOrBracket = /"(?:[^"\\]|\\.)*"|'[^']*'|[[\]{}]/g;

/** Returns the end of a match of a sticky pattern at an offset; undefined if there is none. */
const endOfMatch = (pattern: RegExp, line: string, start: number): number | undefined => {
  pattern.lastIndex = start;
  return pattern.test(line) ? pattern.lastIndex : undefined;
};

/** Returns the end of a bracketed value if that is on the same line, or else the end of the opening bracket. */
const endOfBrackets = (line: string, start: number): number => {
  let depth = 0;
  stringOrBracket.lastIndex = start;
  for (let found = stringOrBracket.exec(line); found; found = stringOrBracket.exec(line)) {
    if ('[{'.includes(found[0])) depth += 1;
    if (']}'.includes(found[0])) depth -= 1;
    if (depth === 0) return stringOrBracket.lastIndex;
  }
  return start + 1;
};

/** Returns the end of the token at an offset: a string, a word, or a bracketed value. */
const endOfToken = (line: string, start: number): number => {
  const first = line.charAt(start);
  if (first === '[' || first === '{') return endOfBrackets(line, start);
  if (first === '"' || first === "'") return endOfMatch(quoted, line, start) ?? line.length;
  return endOfMatch(word, line, start) ?? start + 1;
};

const widthOf = (cells: readonly Cell[]): number =>
  cells.reduce((sum, { width }) => sum + width, 0);

/**
 * Returns the cells that fit. If the cells before the marked cell do not all fit, the marked cell is placed at a third
 * of the line. `…` replaces omitted cells.
 */
const cutAround = (cells: readonly Cell[], marked: number, columns: number): Cell[] => {
  if (widthOf(cells) <= columns) return [...cells];
  const dots = (offset: number): Cell => ({ offset, shown: '…', width: 1 });
  let first = marked;
  let before = 0;
  const mostBefore = widthOf(cells.slice(0, marked)) < columns / 2 ? columns : columns / 3;
  while (first > 0 && before + (cells[first - 1]?.width ?? 0) < mostBefore) {
    first -= 1;
    before += cells[first]?.width ?? 0;
  }
  const shown = first > 0 ? [dots(cells[first - 1]?.offset ?? 0)] : [];
  let used = shown.length;
  for (const cell of cells.slice(first)) {
    if (used + cell.width > columns - 1) return [...shown, dots(cell.offset)];
    shown.push(cell);
    used += cell.width;
  }
  return shown;
};

/**
 * Returns the excerpt around a column, which is counted from 1 in UTF-16 code units. The excerpt has at most the given
 * number of columns.
 */
export const excerptOf = (line: string, column: number, columns: number): Excerpt => {
  const start = Math.min(column - 1, line.length);
  // A file may be one line of megabytes, so only the part that could be shown is processed.
  const from = Math.max(0, start - columns);
  const near = line.slice(0, start + 2 * columns);
  const cells = cellsOf(near, from, near.length);
  const end = endOfToken(near, start);
  const at = cells.findIndex(({ offset }, index) => {
    const next = cells[index + 1];
    return offset >= start || (next === undefined ? near.length : next.offset) > start;
  });
  const shown = cutAround(cells, at === -1 ? cells.length : at, columns);
  const isMarked = ({ offset }: Cell): boolean =>
    offset >= (cells[at]?.offset ?? start) && offset < end;
  return {
    text: shown.map((cell) => cell.shown).join(''),
    indent: widthOf(shown.filter(({ offset }) => offset < (cells[at]?.offset ?? start))),
    length: Math.max(1, widthOf(shown.filter(isMarked))),
  };
};

/** Tables with many columns: an entry a line where the terminal is wide enough, several lines each where it is not. */
import { makeVisible } from '#domain/visible-text.ts';
import type { Colors } from '../terminal/context.ts';
import { formatTable, widthOf, wrapLines } from '../terminal/print.ts';

/** The colours of a text, and the columns that it may take. */
export type View = { colors: Colors; room: number };

export type Cells = readonly string[];

/** An entry on several lines: its first cell, and below it the others that say something, each with its name. */
const blockOf = (head: Cells, [first = '', ...cells]: Cells, { colors, room }: View): string => {
  const said = cells.flatMap((cell, index) =>
    cell === '' || cell === '-' ? [] : `${head[index + 1]?.toLowerCase()} ${makeVisible(cell)}`,
  );
  const lines = wrapLines(said.join(', '), room - 2);
  return [colors.bold(makeVisible(first)), ...lines.map((line) => `  ${line}`)].join('\n');
};

/** Formats a table under its head, or blocks where it does not fit. A cell that is empty or `-` says nothing. */
export const formatFitted = (head: Cells, lines: readonly Cells[], view: View): string => {
  const table = formatTable([head.map(view.colors.dim), ...lines]);
  return widthOf(table) <= view.room
    ? table
    : lines.map((line) => blockOf(head, line, view)).join('\n');
};

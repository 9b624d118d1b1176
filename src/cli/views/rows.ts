/** Things with many columns: one a line where the terminal is wide enough, several lines each where not. */
import type { Colors } from '../context.ts';
import { formatTable, widthOf, wrapLines } from '../print.ts';

/** Where something is shown: with which colours, and on how many columns. */
export type View = { colors: Colors; room: number };

type Cells = readonly string[];

/** One on several lines: its first cell, and below what there is in the others, each with its name. */
const blockOf = (head: Cells, [first = '', ...cells]: Cells, { colors, room }: View): string => {
  const said = cells.flatMap((cell, index) =>
    cell === '' || cell === '-' ? [] : `${head[index + 1]?.toLowerCase()} ${cell}`,
  );
  const lines = wrapLines(said.join(', '), room - 2);
  return [colors.bold(first), ...lines.map((line) => `  ${line}`)].join('\n');
};

/** A table under its head, or blocks where it does not fit. A cell that is empty or `-` says nothing. */
export const formatRows = (head: Cells, lines: readonly Cells[], view: View): string => {
  const table = formatTable([head.map(view.colors.dim), ...lines]);
  return widthOf(table) <= view.room
    ? table
    : lines.map((line) => blockOf(head, line, view)).join('\n');
};

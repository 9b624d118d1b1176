/** Formats the result of a capture for a person. */
import type { CaptureReport } from '#mirror/capture/capture.ts';
import type { View } from '../terminal/context.ts';
import { formatCount, wrapLines } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const statusesText = (statuses: Readonly<Record<string, number>>): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${status} ×${count}`)
    .join(', ');

/** Formats a table by operation, then the skipped and failed requests with their reasons. */
export const describeCapture = (
  { operations, skipped, failed }: CaptureReport,
  view: View,
): string => {
  const table = formatFitted(
    ['OPERATION', 'ASKED', 'KNOWN', 'ROWS', 'STATUSES', 'CUT OFF'],
    operations.map(({ operation, asked, known, rows, statuses, cutOff }) => [
      operation,
      String(asked),
      String(known),
      String(rows),
      statusesText(statuses),
      cutOff === 0 ? '' : `${formatCount(cutOff, 'list')} cut off by max_pages`,
    ]),
    view,
  );
  const left = [
    ...skipped.map(({ operation, reason }) => `not requested: ${operation}: ${reason}`),
    ...failed.map(
      ({ operation, arguments: given, page, reason }) =>
        `failed: ${operation} ${JSON.stringify(given)} page ${page}: ${reason}`,
    ),
  ];
  return [table, ...left.flatMap((line) => wrapLines(line, view.columns))].join('\n');
};

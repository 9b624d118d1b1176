/**
 * Formats how closely a world's answers match its vendor's: a table by route, the overall percentage, and the
 * differences side by side.
 */
import { diffArrays } from 'diff';
import type { Answer, Difference } from '#mirror/conform/compare.ts';
import type { ConformReport, DifferentRequest } from '#mirror/conform/conform.ts';
import type { Colors, View } from '../terminal/context.ts';
import { cut, formatCount, wrapLines } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const mostRequests = 10;
const mostDifferences = 12;
const mostLines = 40;
/** Columns of two answers side by side if the output is not a terminal. */
const pipedColumns = 120;
/** Number of lines of context around a line that differs. */
const around = 2;

const valueText = (value: unknown): string =>
  value === undefined ? '–' : cut(typeof value === 'string' ? value : JSON.stringify(value), 60);

const differenceText = ({ kind, pointer, vendor, world }: Difference): string =>
  `  ${kind} ${pointer}: vendor ${valueText(vendor)}, world ${valueText(world)}`;

type Pair = { left: string; right: string; isSame: boolean };

const linesOf = (answer: Answer): string[] => {
  const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `status ${answer.status}`,
    ...headers.sort(),
    ...JSON.stringify(answer.body, null, 2).split('\n'),
  ];
};

/** Pairs corresponding lines of both answers. */
const pairUp = (left: string[], right: string[]): Pair[] => {
  const pairs: Pair[] = [];
  let gone: string[] = [];
  const flush = (came: string[]): void => {
    for (let at = 0; at < Math.max(gone.length, came.length); at += 1) {
      pairs.push({ left: gone[at] ?? '', right: came[at] ?? '', isSame: false });
    }
    gone = [];
  };
  for (const { value, added, removed } of diffArrays(left, right)) {
    if (removed) gone = [...gone, ...value];
    else if (added) flush(value);
    else {
      flush([]);
      for (const line of value) pairs.push({ left: line, right: line, isSame: true });
    }
  }
  flush([]);
  return pairs;
};

/** Formats the two answers side by side, without equal lines that are far from any difference. */
const sideBySide = (vendor: Answer, world: Answer, columns: number, colors: Colors): string[] => {
  const pairs = pairUp(linesOf(vendor), linesOf(world));
  const isNear = (at: number): boolean =>
    pairs.slice(Math.max(0, at - around), at + around + 1).some(({ isSame }) => !isSame);
  const half = Math.max(20, Math.floor((columns - 7) / 2));
  const lines: string[] = [];
  let isCut = false;
  for (const [at, { left, right, isSame }] of pairs.entries()) {
    if (!isNear(at)) {
      if (!isCut) lines.push('    …');
      isCut = true;
      continue;
    }
    isCut = false;
    const text = `${cut(left, half).padEnd(half)} ${isSame ? ' ' : '|'} ${cut(right, half)}`;
    lines.push(`    ${isSame ? text.trimEnd() : colors.yellow(text.trimEnd())}`);
  }
  const more = lines.length - mostLines;
  return more > 0
    ? [...lines.slice(0, mostLines), `    and ${formatCount(more, 'line')} more`]
    : lines;
};

const requestText = (
  { operation, request, capture, differences, vendor, world }: DifferentRequest,
  columns: number,
  colors: Colors,
): string => {
  const more = differences.length - mostDifferences;
  return [
    `${colors.bold(operation)}  ${request}  ${capture === null ? 'compared with the contract' : capture}`,
    ...differences.slice(0, mostDifferences).map(differenceText),
    ...(more > 0 ? [`  and ${formatCount(more, 'difference')} more`] : []),
    ...(vendor === null ? [] : sideBySide(vendor, world, columns, colors)),
  ].join('\n');
};

/** Formats the report for a person. */
export const describeConform = (
  { fidelity, checks, differences, routes, different, notPlayed }: ConformReport,
  view: View,
): string => {
  const { colors, columns: terminal } = view;
  const columns = Number.isFinite(terminal) ? terminal : pipedColumns;
  const table = formatFitted(
    ['OPERATION', 'ROUTE', 'REQUESTS', 'COMPARED', 'DIFFERENT', 'FIDELITY', 'BY'],
    routes.map((line) => [
      line.operation,
      line.route,
      String(line.requests),
      String(line.checks),
      String(line.differences),
      `${line.fidelity} %`,
      line.isCaptured ? 'captures' : 'contract',
    ]),
    view,
    { leftOut: ['REQUESTS'], cut: ['ROUTE'] },
  );
  const more = different.length - mostRequests;
  return [
    ...different.slice(0, mostRequests).map((one) => requestText(one, columns, colors)),
    ...(more > 0
      ? [`and ${formatCount(more, 'request')} more with differences; --json has them all`]
      : []),
    table,
    ...notPlayed.flatMap(({ operation, reason }) =>
      wrapLines(`not compared: ${operation}: ${reason}`, terminal),
    ),
    `fidelity ${fidelity} %: ${formatCount(differences, 'difference')} in ${formatCount(checks, 'comparison')}`,
  ].join('\n');
};

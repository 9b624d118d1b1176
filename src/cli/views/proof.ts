/** Formats a proof of a task for a person. */
import type { Proof, ProofRow } from '#wire/public-api/evaluation/proof.ts';
import type { Colors, View } from '../terminal/context.ts';
import { cutLine, formatCount } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const markOf = ({ ok }: ProofRow, colors: Colors): string =>
  ok ? colors.green('✓') : colors.red('✗');

const lineOf = (row: ProofRow, colors: Colors): string[] => [
  `${markOf(row, colors)} ${cutLine(row.what)}`,
  row.expected,
  row.verdict ?? 'not tried',
  row.ok ? colors.dim(cutLine(row.detail ?? '')) : cutLine(row.detail ?? ''),
];

/**
 * Returns true for a change of the end state that the expected check noticed. Such attempts are not shown, but counted
 * for each check.
 */
const isPlain = ({ kind, ok }: ProofRow): boolean => kind === 'change' && ok;

const seenLines = (rows: readonly ProofRow[], colors: Colors): string[][] => {
  const counts = new Map<string, number>();
  for (const { what } of rows.filter(isPlain)) {
    const [name] = what.split(/(?<=") when /, 1);
    counts.set(name ?? what, (counts.get(name ?? what) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => [
    `${colors.green('✓')} ${cutLine(`${name} when something is amiss`)}`,
    'fail',
    'fail',
    colors.dim(`${formatCount(count, 'change')} of the end state, each noticed`),
  ]);
};

const listOf = (title: string, names: readonly string[], advice: string): string[] =>
  names.length === 0 ? [] : ['', `${title}: ${advice}`, ...names.map((name) => `  ${name}`)];

/** Formats the attempts of a proof, one on a line, and what has to be fixed. */
export const describeProof = (proof: Proof, view: View): string => {
  const { colors } = view;
  const { passed, rows, notGraded, neverBites, summary } = proof;
  const bad = rows.filter(({ ok }) => !ok).length;
  const lines = [
    ...rows.filter((row) => !isPlain(row)).map((row) => lineOf(row, colors)),
    ...seenLines(rows, colors),
  ];
  const table = formatFitted(['  TRIED', 'EXPECTED', 'GRADE', 'DETAIL'], lines, view);
  const verdict = passed
    ? colors.green(`proved: ${formatCount(summary.tried ?? rows.length, 'attempt')}`)
    : colors.red(`not proved: ${bad} of ${rows.length} attempts have the wrong result`);
  return [
    table,
    ...listOf(
      'Steps whose effect is not graded',
      notGraded,
      'remove them from the solution, or add checks for what they do',
    ),
    ...listOf('Checks that never fail', neverBites, 'they passed in every attempt'),
    '',
    verdict,
  ].join('\n');
};

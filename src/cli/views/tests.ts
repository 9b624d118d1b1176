/** Formats test runs for a person: each test on a line, with the message and output of failures. */
import { own } from '#domain/json.ts';
import type { Colors } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';

type Failure = { message: string; file: string | null; line: number | null; text: string };
export type TestReport = {
  passed: boolean;
  summary: Record<string, number>;
  tests: {
    name: string;
    outcome: string;
    durationMs: number;
    output: string;
    failure: Failure | null;
  }[];
  leftOut: number;
};

const marks: Readonly<Record<string, string>> = { passed: '✓', skipped: '-' };

const indent = (text: string): string => text.trimEnd().replaceAll(/^/gm, '    ');

const lineOf = ({ name, outcome, durationMs }: TestReport['tests'][number], colors: Colors) => {
  const isFine = outcome === 'passed' || outcome === 'skipped';
  const word = isFine ? '' : ` ${outcome.replaceAll('_', ' ')}`;
  const line = `${own(marks, outcome) ?? '✗'} ${name}${word} (${Math.round(durationMs)} ms)`;
  return isFine ? line : colors.red(line);
};

const detailsOf = ({ failure, output, outcome }: TestReport['tests'][number]): string[] => {
  if (outcome === 'passed' || outcome === 'skipped') return [];
  const said = failure === null ? [] : [indent(failure.text || failure.message)];
  return output === '' ? said : [...said, indent(`printed:\n${output}`)];
};

const summaryText = ({ summary }: TestReport): string =>
  Object.entries(summary)
    .filter(([name]) => name !== 'total')
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ');

/** Formats a report. */
export const testsText = (report: TestReport, colors: Colors): string =>
  [
    ...report.tests.flatMap((test) => [lineOf(test, colors), ...detailsOf(test)]),
    ...(report.leftOut > 0 ? [`${report.leftOut} more tests do not fit into the report`] : []),
    `${formatCount(report.summary.total ?? 0, 'test')}: ${summaryText(report)}`,
  ].join('\n');

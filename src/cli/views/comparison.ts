/** Formats the comparison of two builds for a person. */
import type { BuildComparison, BuildRef } from '#wire/public-api/evaluation/release.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, wrapLines } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

type Contrast = BuildComparison['total'];
type Task = BuildComparison['tasks'][number];

const named = ({ agentId, version, buildHash }: BuildRef): string =>
  `${cutLine(agentId, 30)} ${cutLine(version ?? buildHash, 24)}`;

/** Formats a pass rate, `12/20 60 %`, or `-` if nothing was graded. */
const rateText = ({ n, passed, passRate }: Contrast['base']): string =>
  passRate === null ? '-' : `${passed}/${n} ${Math.round(passRate * 100)} %`;

const points = (share: number): string => `${share > 0 ? '+' : ''}${(share * 100).toFixed(1)}`;

/** Returns the cells of a difference. If its confidence interval does not contain 0, the difference is marked. */
const cellsOf = ({ base, candidate, difference, interval }: Contrast): string[] => {
  const rates = [rateText(base), rateText(candidate)];
  if (difference === null || interval === null) return [...rates, '-', '-'];
  const [low = 0, high = 0] = interval;
  const mark = low > 0 || high < 0 ? ' *' : '';
  return [...rates, points(difference), `${points(low)} to ${points(high)}${mark}`];
};

const head = ['TASK', 'BASE', 'CANDIDATE', 'DIFFERENCE', '95 % INTERVAL'];

const nameOf = ({ world, task }: Pick<Task, 'world' | 'task'>): string =>
  cutLine(task === null ? world : `${world}/${task}`, 60);

const linesOf = (task: Task): string[][] => [
  [nameOf(task), ...cellsOf(task)],
  ...task.checks.map((check) => [`  ${cutLine(check.name, 58)}`, ...cellsOf(check)]),
];

const flipLines = (
  flips: BuildComparison['flips'],
  to: 'pass' | 'fail',
  { columns }: View,
): string[] => {
  const those = flips.filter(({ candidate }) => candidate.verdict === to);
  return those.flatMap((flip) => {
    const checks = flip.checks.length === 0 ? '' : `: ${cutLine(flip.checks.join(', '), 200)}`;
    const lines = wrapLines(`${nameOf(flip)}${checks}`, columns - 2);
    const pair = `${flip.base.sessionId} → ${flip.candidate.sessionId}`;
    return [...lines.map((line) => `  ${line}`), `    ${pair}`];
  });
};

const flipText = (comparison: BuildComparison, view: View): string[] => {
  const { colors } = view;
  const { flips, flippedToFail, flippedToPass } = comparison;
  const [toFail, toPass] = [flipLines(flips, 'fail', view), flipLines(flips, 'pass', view)];
  return [
    ...['', `sessions whose verdicts differ: ${flippedToFail} now fail, ${flippedToPass} now pass`],
    ...(toFail.length === 0 ? [] : [colors.red('to fail'), ...toFail]),
    ...(toPass.length === 0 ? [] : [colors.green('to pass'), ...toPass]),
  ];
};

/** Formats pass rates by task and check with their differences, and the sessions whose verdicts differ. */
export const describeComparison = (comparison: BuildComparison, view: View): string => {
  const { base, candidate, total, tasks, olderLeftOut } = comparison;
  const title = `${named(base)} → ${named(candidate)}`;
  if (tasks.length === 0)
    return `${title}\nneither build has a session that was graded pass or fail`;
  const lines = [...tasks.flatMap(linesOf), ['tasks of both', ...cellsOf(total)]];
  const table = formatFitted(head, lines, view, { cut: ['TASK'] });
  return [
    ...[title, '', table, 'differences in percentage points; * if the interval does not contain 0'],
    ...tasks
      .filter(({ contentDiffers }) => contentDiffers)
      .flatMap((task) =>
        wrapLines(`the builds played ${nameOf(task)} with different contents`, view.columns),
      ),
    ...(olderLeftOut ? ['only the newest 1,000 sessions of each build are compared'] : []),
    ...flipText(comparison, view),
  ].join('\n');
};

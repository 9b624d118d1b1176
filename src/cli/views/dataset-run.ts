/** Formats a dataset run on a world for people: its items with their grades, and failed agents. */
import { describeAgentEnd, isAgentFailure } from '#domain/agent-end.ts';
import { makeVisible } from '#domain/visible-text.ts';
import type { RolloutView, WorldRunView } from '#wire/public-api/evaluation/dataset.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, wrapLines } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

/** Formats the progress: `3 of 4 graded, 2 passed, 1 not graded (the agent of 1 failed)`. */
export const progressOf = ({ graded, passed, failed, crashed, items }: WorldRunView): string => {
  const lost = crashed === 0 ? '' : ` (the agent of ${crashed} failed)`;
  return `${graded} of ${items} graded, ${passed} passed${failed === 0 ? '' : `, ${failed} not graded${lost}`}`;
};

const head = ['ITEM', 'VERDICT', 'SCORE', 'SESSION', 'ERROR'];

const lineOf = ({ datasetItemId, verdict, score, sessionId, error }: RolloutView): string[] => [
  ...[datasetItemId, verdict ?? 'not graded', score?.toFixed(2) ?? '-'],
  ...[sessionId ?? '-', cutLine(error ?? '-')],
];

/** Formats how a failed agent ended, with its last lines on standard error; returns nothing for other agents. */
const failureOf = ({ datasetItemId, agent }: RolloutView, { columns }: View): string[] => {
  if (agent === null || !isAgentFailure(agent.outcome)) return [];
  const said = `${makeVisible(datasetItemId)}: ${describeAgentEnd(agent)}`;
  const lines = agent.lastLines.flatMap((line) => wrapLines(makeVisible(line), columns - 4));
  return [...wrapLines(said, columns), ...lines.map((line) => `    ${line}`)];
};

/** Formats the state of a run, and how to continue it. */
export const describeWorldRun = (
  name: string,
  { worldRun, items }: { worldRun: WorldRunView; items: readonly RolloutView[] },
  view: View,
): string => {
  const { reason, graded, items: count } = worldRun;
  const stopped = reason === null ? '' : `; stopped: ${reason}`;
  const more = graded === count ? '' : '; run the same command with this --name to continue';
  const failures = items.flatMap((item) => failureOf(item, view));
  const end = `run "${name}": ${progressOf(worldRun)}${stopped}${more}`;
  return [
    formatFitted(head, items.map(lineOf), view),
    ...(failures.length === 0 ? [] : ['', ...failures]),
    ...['', ...wrapLines(end, view.columns)],
  ].join('\n');
};

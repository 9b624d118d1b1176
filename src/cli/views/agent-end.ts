/** Formats how an agent ended, for people. */
import type { AgentEndView } from '#wire/public-api/sessions/agent-end.ts';
import { formatAgo, formatDuration, formatFields } from '../terminal/print.ts';

/** Formats how the agent's command ended, and its output. */
export const describeAgentEnd = (end: AgentEndView): string => {
  const { outcome, exitCode, signal, seconds, output, outputCut, reportedAt } = end;
  const fields = formatFields([
    ['outcome', outcome.replaceAll('_', ' ')],
    ['exit', exitCode],
    ['signal', signal],
    ['took', formatDuration(seconds * 1_000)],
    ['reported', formatAgo(reportedAt)],
    ['output', outputCut ? 'its beginning and end' : undefined],
  ]);
  return output === '' ? fields : `${fields}\n\n${output.trimEnd()}`;
};

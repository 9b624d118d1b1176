/** Formats the end of an agent for a person. */
import type { AgentEndView } from '#wire/public-api/sessions/agent-end.ts';
import { formatAgo, formatDuration, formatFields } from '../terminal/print.ts';

/** Formats the end of the agent's command, and its output. */
export const describeAgentEnd = (end: AgentEndView): string => {
  const { outcome, exitCode, signal, seconds, output, outputCut, reportedAt } = end;
  const fields = formatFields([
    ['outcome', outcome.replaceAll('_', ' ')],
    ['exit', exitCode],
    ['signal', signal],
    ['took', formatDuration(seconds * 1_000)],
    ['reported', formatAgo(reportedAt)],
    ['output', outputCut ? 'its beginning and its end' : undefined],
  ]);
  return output === '' ? fields : `${fields}\n\n${output.trimEnd()}`;
};

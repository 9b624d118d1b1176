/** The end of an agent as a person reads it. */
import type { AgentEndView } from '#wire/public-api/sessions/agent-end.ts';
import { formatAgo, formatDuration, formatFields } from '../terminal/print.ts';

/** Describes how the agent's command ended, and shows what it printed. */
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

/**
 * The end of an agent's command that was run for a session. An agent that failed says nothing of the model in it, so its
 * session is not graded.
 */

export const agentOutcomes = ['ended', 'missing', 'failed', 'timed_out'] as const;
/**
 * `ended`: the session can be graded, whatever the exit status. `missing`: the shell found no such command, or could not
 * run it. `failed`: it ended with another status than 0 or by a signal, before it did anything in the session.
 * `timed_out`: it was ended when its time was over.
 */
export type AgentOutcome = (typeof agentOutcomes)[number];

/** The end of a command; `exitCode` is null where a signal ended it. */
export type AgentEnd = { outcome: AgentOutcome; exitCode: number | null; signal: string | null };

/** Returns true for an end that is no result of the agent's work. */
export const isAgentFailure = (outcome: AgentOutcome): boolean => outcome !== 'ended';

/** Characters of an agent's output that are kept, and its last lines on standard error. */
export const agentOutputLimits = { chars: 64 * 1024, lines: 20, lineChars: 1_000 } as const;

const statusOf = ({ exitCode, signal }: AgentEnd): string => {
  if (signal !== null) return `signal ${signal}`;
  return exitCode === null ? 'no exit status' : `exit status ${exitCode}`;
};

/** Describes the end in a sentence without its full stop. */
export const describeAgentEnd = (end: AgentEnd): string => {
  switch (end.outcome) {
    case 'ended':
      return `the agent ended with ${statusOf(end)}`;
    case 'missing':
      return `the agent's command was not found or cannot be run (${statusOf(end)})`;
    case 'failed':
      return `the agent ended with ${statusOf(end)} before it did anything in the session`;
    case 'timed_out':
      return `the agent ran out of time and was ended (${statusOf(end)})`;
  }
};

/** The exit statuses by which a shell says that it cannot run a command. */
const shellStatuses: readonly (number | null)[] = [126, 127];

/** Returns the outcome of a command that ended by itself; `hasActed` is true where its session was used. */
export const outcomeOfExit = (exitCode: number | null, hasActed: boolean): AgentOutcome => {
  if (exitCode === 0 || hasActed) return 'ended';
  return shellStatuses.includes(exitCode) ? 'missing' : 'failed';
};

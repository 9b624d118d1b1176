/**
 * End of the agent command that `svc` ran for a session. If the agent command itself failed, the session says nothing
 * about the agent's model, so it is not graded.
 */

export const agentOutcomes = ['ended', 'missing', 'failed', 'timed_out'] as const;
/**
 * Outcome of an agent command. `ended`: the session can be graded, whatever the exit status. `missing`: the shell found
 * no such command, or could not run it. `failed`: the command ended by a signal or with a non-zero status before it
 * used the session. `timed_out`: `svc` ended the command at its deadline.
 */
export type AgentOutcome = (typeof agentOutcomes)[number];

/** End of an agent command; `exitCode` is null if a signal ended the command. */
export type AgentEnd = { outcome: AgentOutcome; exitCode: number | null; signal: string | null };

/** Returns true if the outcome is a failure of the agent command and not a result of the agent's work. */
export const isAgentFailure = (outcome: AgentOutcome): boolean => outcome !== 'ended';

/**
 * Limits on the agent output that is kept: characters in all, last lines of standard error, and characters of each of
 * these lines.
 */
export const agentOutputLimits = { chars: 64 * 1024, lines: 20, lineChars: 1_000 } as const;

const statusOf = ({ exitCode, signal }: AgentEnd): string => {
  if (signal !== null) return `signal ${signal}`;
  return exitCode === null ? 'no exit status' : `exit status ${exitCode}`;
};

/** Describes the end in a sentence without a full stop. */
export const describeAgentEnd = (end: AgentEnd): string => {
  switch (end.outcome) {
    case 'ended':
      return `the agent ended with ${statusOf(end)}`;
    case 'missing':
      return `the agent's command was not found or cannot be run (${statusOf(end)})`;
    case 'failed':
      return `the agent ended with ${statusOf(end)} before it used the session`;
    case 'timed_out':
      return `the agent reached its time limit and was ended (${statusOf(end)})`;
  }
};

/** Exit statuses with which a shell reports that it cannot run a command. */
const shellStatuses: readonly (number | null)[] = [126, 127];

/** Returns the outcome of a command that ended by itself; `hasActed` is true if the command used its session. */
export const outcomeOfExit = (exitCode: number | null, hasActed: boolean): AgentOutcome => {
  if (exitCode === 0 || hasActed) return 'ended';
  return shellStatuses.includes(exitCode) ? 'missing' : 'failed';
};

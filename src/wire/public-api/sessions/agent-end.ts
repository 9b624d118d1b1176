/** End of the agent command of a session, as the program that ran the command reports it. */
import { agentOutcomes, agentOutputLimits as limits } from '#domain/agent-end.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const Outcome = oneOf(
  agentOutcomes,
  'ended: the session can be graded; missing: the command does not exist; failed: the command exited with a status other than 0 before it used the session; timed_out: the command exceeded its time limit',
);
const ExitCode = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 255,
    description: 'exit status; null if a signal ended the command',
  }),
);
const Signal = nullable(
  Type.String({ maxLength: 20, description: 'signal that ended the command, such as SIGKILL' }),
);
const LastLines = Type.Array(Type.String({ maxLength: limits.lineChars }), {
  maxItems: limits.lines,
  description: 'last lines that the command wrote to standard error',
});

/** Short form of an agent's end for an item of a dataset run. */
export const AgentEndRef = Type.Object({
  outcome: Outcome,
  exitCode: ExitCode,
  signal: Signal,
  lastLines: LastLines,
});

export const ReportAgentEndBody = Type.Object(
  {
    ...AgentEndRef.properties,
    seconds: Type.Number({ minimum: 0, description: 'seconds for which the command ran' }),
    output: Type.String({
      maxLength: limits.chars,
      description: 'output of the command on both streams, in the order of arrival',
    }),
    outputCut: Type.Boolean({ description: 'true if the middle of the output was left out' }),
  },
  { additionalProperties: false },
);
export type ReportAgentEndBody = Static<typeof ReportAgentEndBody>;

export const AgentEndView = Type.Object({
  sessionId: Type.String(),
  ...ReportAgentEndBody.properties,
  reportedAt: Timestamp,
});
export type AgentEndView = Static<typeof AgentEndView>;

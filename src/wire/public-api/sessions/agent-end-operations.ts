/** Operations on the end of an agent's command: the program that ran the command reports it, and clients read it. */
import { getOperation, operation } from '../../operation.ts';
import { AgentEndView, ReportAgentEndBody } from './agent-end.ts';
import { SessionParams } from './session-operations.ts';

const path = '/world-sessions/{sessionId}/agent';

export const reportAgentEnd = operation({
  id: 'reportAgentEnd',
  summary:
    "Report how the agent's command in a session ended, and store its output; a later report replaces it. If the agent failed, the item of its dataset run becomes FAILED and is not graded",
  method: 'PUT',
  path,
  access: 'write',
  params: SessionParams,
  body: ReportAgentEndBody,
  answers: { 200: AgentEndView },
});

export const getAgentEnd = getOperation({
  id: 'getAgentEnd',
  summary: "The result and output of the agent's command in a session",
  path,
  // A command may print its environment, which holds the tokens of its session. So reading needs `write`.
  access: 'write',
  params: SessionParams,
  answer: AgentEndView,
  refusals: { 404: "For this session, no end of an agent's command was reported." },
});

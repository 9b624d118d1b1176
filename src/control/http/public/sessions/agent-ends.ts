/** Endpoints that record and read how the agent of a session ended. */
import { AppError } from '#domain/error.ts';
import { cleanText } from '#observability/read-value.ts';
import * as api from '#wire/public-api/operations.ts';
import type { AgentEndView } from '#wire/public-api/sessions/agent-end.ts';
import { type AgentEndRow, findAgentEnd, putAgentEnd } from '../../../db/sessions/agent-ends.ts';
import { findSession, noSession } from '../../../db/sessions/sessions.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

const view = ({ isCut: outputCut, reportedAt, ...end }: AgentEndRow): AgentEndView => ({
  ...end,
  outputCut,
  reportedAt: reportedAt.toISOString(),
});

export const agentEndEndpoints = ({ db }: Parts): Endpoint[] => [
  endpoint(api.reportAgentEnd, async ({ params: { sessionId }, body }, { caller }) => {
    const { outputCut: isCut, output, lastLines, signal, ...end } = body;
    const kept = await putAgentEnd(db, caller.projectId, {
      ...{ ...end, sessionId, isCut, output: cleanText(output) },
      ...{
        lastLines: lastLines.map(cleanText),
        signal: signal === null ? null : cleanText(signal),
      },
    });
    if (kept === undefined) throw noSession(sessionId);
    return respond(200, view(kept));
  }),

  endpoint(api.getAgentEnd, async ({ params: { sessionId } }, { caller: { projectId } }) => {
    const end = await findAgentEnd(db, projectId, sessionId);
    if (end !== undefined) return respond(200, view(end));
    if ((await findSession(db, projectId, sessionId)) === undefined) throw noSession(sessionId);
    throw new AppError(
      'not_found',
      `no end of an agent was reported for the session "${sessionId}"; "svc datasets run --agent" reports it`,
    );
  }),
];

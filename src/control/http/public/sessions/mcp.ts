/** Endpoint of the MCP server of a session. */
import * as api from '#wire/public-api/operations.ts';
import { rpcRefusal, serveMcp } from '../../../mcp/serve.ts';
import { createSessionHandler } from '../../../mcp/session-handler.ts';
import type { Parts } from '../../../parts.ts';
import { type Endpoint, endpoint } from '../../server/endpoint.ts';

export const mcpEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(
    api.callSessionServer,
    async ({ params, headers, body }, { caller: { projectId }, signal }) =>
      serveMcp(parts, { headers, body, projectId, signal }, () =>
        createSessionHandler(parts, { ...params, projectId }, headers.traceparent),
      ),
    rpcRefusal,
  ),
];

/**
 * The MCP server of a project, over the operations of the public API. A tool's request is done as one that came by
 * HTTP: its body is read apart where it is large, and it is checked by the same schemas.
 */
import * as api from '#wire/public-api/operations.ts';
import { rpcRefusal, serveMcp } from '../../mcp/serve.ts';
import { createServiceFace, type PerformTool } from '../../mcp/service-face.ts';
import { serviceToolsOf } from '../../mcp/service-tools.ts';
import type { Parts } from '../../parts.ts';
import { type Endpoint, endpoint, type ProjectCaller } from '../server/endpoint.ts';
import { createPerformer, type Performer, type Ways } from '../server/perform.ts';

/** The endpoint of the server over the operations of these others. */
export const serviceEndpoint = (
  parts: Parts,
  endpoints: readonly Endpoint[],
  ways: Ways,
): Endpoint => {
  const tools = serviceToolsOf(endpoints.map(({ operation }) => operation));
  const byId = new Map(endpoints.map((one) => [one.operation.id, one]));
  const performers = new Map<string, Performer>();

  /** Its checks are compiled when it is first asked for. */
  const performerOf = (id: string): Performer => {
    const known = performers.get(id);
    if (known !== undefined) return known;
    const found = byId.get(id);
    if (found === undefined) throw new Error(`the operation ${id} is not served`);
    const made = createPerformer(found, ways);
    performers.set(id, made);
    return made;
  };

  const performFor =
    (caller: ProjectCaller): PerformTool =>
    async ({ operation }, request, { signal }) => {
      const { perform } = performerOf(operation.id);
      return perform(request, { caller, signal });
    };

  return endpoint(
    api.callService,
    async ({ headers, body }, { caller, signal }) => {
      const { projectId, level } = caller;
      return serveMcp(parts, { headers, body, projectId, signal }, async () =>
        createServiceFace({ tools, level, perform: performFor(caller) }),
      );
    },
    rpcRefusal,
  );
};

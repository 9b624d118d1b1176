/**
 * The MCP server of a project, over the operations of the public API. A tool call is performed like an HTTP request: a
 * large body is parsed in a separate process, and the same schemas check it.
 */
import * as api from '#wire/public-api/operations.ts';
import { rpcRefusal, serveMcp } from '../../mcp/serve.ts';
import { createServiceHandler, type PerformTool } from '../../mcp/service-handler.ts';
import { serviceToolsOf } from '../../mcp/service-tools.ts';
import type { Parts } from '../../parts.ts';
import { type Endpoint, endpoint, type ProjectCaller } from '../server/endpoint.ts';
import { createPerformer, type Performer, type RequestServices } from '../server/perform.ts';

/** Builds the endpoint of the MCP server, which offers the operations of the given endpoints as tools. */
export const serviceEndpoint = (
  parts: Parts,
  endpoints: readonly Endpoint[],
  services: RequestServices,
): Endpoint => {
  const tools = serviceToolsOf(endpoints.map(({ operation }) => operation));
  const byId = new Map(endpoints.map((one) => [one.operation.id, one]));
  const performers = new Map<string, Performer>();

  /** Returns the performer of an operation; its checks are compiled at the first use. */
  const performerOf = (id: string): Performer => {
    const known = performers.get(id);
    if (known !== undefined) return known;
    const found = byId.get(id);
    if (found === undefined) throw new Error(`the operation ${id} is not served`);
    const made = createPerformer(found, services);
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
        createServiceHandler({ tools, level, perform: performFor(caller) }),
      );
    },
    rpcRefusal,
  );
};

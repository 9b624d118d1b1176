/**
 * Relays requests for the MCP server of a session to the control plane, which serves it and checks the session's token.
 * Agents that can reach only the gateway's network can thus use their tools.
 */
import { Agent } from 'node:https';
import { readVisitor, requestHeaders } from '../http/forwarded-headers.ts';
import {
  bodyTooLarge,
  clientTooSlow,
  controlUnreachable,
  hostTooSlow,
  noMcpHere,
  type Refusal,
  tooManyRequests,
} from '../http/refusals.ts';
import { type Failure, relay } from '../http/relay.ts';
import type { Arrival } from '../http/server.ts';
import type { McpTarget } from '../http/target.ts';
import type { Upstream } from '../http/upstreams.ts';
import { countRequest } from './metrics.ts';
import type { ServeParts } from './serve.ts';

/** Address of the control plane. */
export type ControlPlace = { upstream: Upstream; path: string; secureAgent: Agent | undefined };

export type McpParts = Pick<
  ServeParts,
  'agent' | 'isStopping' | 'limits' | 'metrics' | 'refuser' | 'template' | 'trustedHops' | 'visits'
> & { control: ControlPlace };

/** Parses the address of the control plane. */
export const controlPlaceOf = (controlUrl: string): ControlPlace => {
  const { protocol, hostname, port, pathname } = new URL(controlUrl);
  const isSecure = protocol === 'https:';
  return {
    upstream: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (isSecure ? 443 : 80)),
      ...(isSecure ? { protocol: 'https:' as const } : {}),
    },
    path: pathname.replace(/\/$/, ''),
    secureAgent: isSecure ? new Agent({ keepAlive: true, servername: hostname }) : undefined,
  };
};

/** Returns true for the one path that serves MCP. */
const isServed = (path: string): boolean => path.split('?', 1)[0] === '/mcp';

const refusalFor = (
  failure: Exclude<Failure, { kind: 'dropped' }>,
  sessionId: string,
  limits: McpParts['limits'],
): Refusal => {
  switch (failure.kind) {
    case 'too_large':
      return bodyTooLarge(limits.bodyBytes);
    case 'client_slow':
      return clientTooSlow();
    case 'host_slow':
      return hostTooSlow(sessionId, limits.answerMs);
    default:
      return controlUnreachable();
  }
};

/** Relays a request and its answer. An error that it throws is a fault of the gateway itself. */
export const relayMcp = async (
  parts: McpParts,
  arrival: Arrival,
  { sessionId, host, path }: McpTarget,
): Promise<void> => {
  const { request, response, expectsContinue, upgrade } = arrival;
  const { agent, control, isStopping, limits, metrics, refuser, template, trustedHops, visits } =
    parts;
  countRequest(metrics, arrival, 'mcp');
  const refuse = (refusal: Refusal) =>
    refuser.answer(request, response, refusal, { page: undefined });
  if (upgrade !== undefined || !isServed(path)) return refuse(noMcpHere(sessionId));
  const visit = visits.enter(sessionId);
  if (visit === undefined) return refuse(tooManyRequests(sessionId, limits.perSession));
  response.once('close', () => visit.leave());
  const failure = await relay({
    request,
    response,
    upstream: control.upstream,
    path: `${control.path}/api/gateway/sessions/${sessionId}/mcp`,
    headers: requestHeaders(request, {
      host,
      visitor: readVisitor(request, { trustedHops, scheme: template.scheme }),
      hiddenCookie: undefined,
      entryKey: undefined,
      expectsContinue,
      upgrade: undefined,
    }),
    agent: control.secureAgent ?? agent,
    limits,
    expectsContinue,
    isLast: isStopping,
  });
  if (failure === undefined) return;
  if (failure.kind === 'dropped') response.destroy();
  else refuse(refusalFor(failure, sessionId, limits));
};

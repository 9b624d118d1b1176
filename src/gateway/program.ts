/**
 * Wires the gateway together: the route table and the feed that keeps it current, the access control of surfaces, and
 * the server. It keeps no state that another replica would need. Its token only permits it to read routes and consume
 * links.
 */
import { Agent } from 'node:http';
import pMap from 'p-map';
import { type Bound, bindAll } from '#runtime/listen.ts';
import type { Log } from '#runtime/log.ts';
import { createLoopBoard } from '#runtime/loop-board.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import { pause } from '#runtime/pause.ts';
import { undoStart } from '#runtime/release.ts';
import type { Running } from '#runtime/run.ts';
import { createPasses } from '#runtime/surface-pass.ts';
import { startTracer } from '#runtime/tracing.ts';
import { createClient } from '#wire/client.ts';
import { resolveRoute } from '#wire/gateway-api/operations.ts';
import type { GatewayConfig } from './config.ts';
import { createDoor } from './entry/enter.ts';
import type { Refusal } from './http/refusals.ts';
import { createRefuser } from './http/refuser.ts';
import { type Arrival, createGatewayServer } from './http/server.ts';
import { readTarget } from './http/target.ts';
import { createUpstreams } from './http/upstreams.ts';
import { startFollowing } from './routes/follow.ts';
import { createRouteTable, type RouteTable } from './routes/route-table.ts';
import { createFirstRequests } from './serving/first-requests.ts';
import { addGauges, createMetrics } from './serving/metrics.ts';
import { answerOwn } from './serving/own-routes.ts';
import { controlPlaceOf, relayMcp } from './serving/relay-mcp.ts';
import { type ServeParts, serveSurface } from './serving/serve.ts';
import { createVisits, type Visits } from './serving/visits.ts';

export type RunningGateway = Running & {
  /** `http://host:port` of each address that it listens on. */
  addresses: string[];
  /** `http://host:port` of each address that serves metrics. */
  metricsAddresses: string[];
};

/** Timeout of one route lookup, in milliseconds. After it the route is treated as unknown. */
const askMs = 3_000;
/**
 * Idle time of upstream connections, in milliseconds. It is shorter than that of hosts, so that no request uses a
 * connection that the host is closing.
 */
const idleUpstreamMs = 4_000;
/** Upper bound for the rest of a stop, in milliseconds, once all connections have ended. */
const releaseMs = 1_000;
const checksAtOnce = 8;

/** Cuts tunnels of sessions that are now served elsewhere, or no longer. */
const checkTunnels = async (
  visits: Visits,
  routes: RouteTable,
  sessionIds: readonly string[],
): Promise<void> => {
  const check = async (sessionId: string): Promise<void> => {
    const found = await routes.find(sessionId);
    if (found.kind === 'unknown') return;
    const surfaces = found.kind === 'route' ? Object.values(found.route.surfaces) : [];
    visits.cutTunnels(sessionId, surfaces);
  };
  await pMap(sessionIds, check, { concurrency: checksAtOnce });
};

/** Keeps serving while unready, lets open requests finish, and cuts the rest. */
const endConnections = async (
  bound: Bound,
  visits: Visits,
  shutdown: GatewayConfig['shutdown'],
  log: Log,
): Promise<void> => {
  if (shutdown.drainMs > 0) {
    log.info(shutdown, 'told to stop; serving on until balancers have noticed');
    await pause(shutdown.drainMs);
  }
  const closed = bound.stop(shutdown.finishMs);
  await Promise.race([closed, pause(shutdown.finishMs)]);
  for (const sessionId of visits.tunnelled()) visits.cutTunnels(sessionId, []);
  await closed;
};

/** Starts a gateway. It is ready after the first answer of the control plane. */
export const startGateway = async (config: GatewayConfig, log: Log): Promise<RunningGateway> => {
  const { limits, template, token, shutdown } = config;
  const client = createClient({
    baseUrl: `${config.controlUrl}/api/gateway`,
    authorization: `Bearer ${token.reveal()}`,
  });
  const routes = createRouteTable({
    most: limits.routes,
    async ask(sessionId) {
      const signal = AbortSignal.timeout(askMs);
      return (await client.send(resolveRoute, { params: { sessionId }, signal })).body;
    },
  });
  const visits = createVisits(limits.perSession);
  const metrics = createMetrics();
  addGauges(metrics, visits, routes);
  const passes = createPasses({ token, scheme: template.scheme });
  let stopped: Promise<void> | undefined;
  const isStopping = () => stopped !== undefined;
  const onRefusal = ({ code }: Refusal) => metrics.refusals.inc({ code });
  const refuser = createRefuser({ isStopping, onRefusal });
  const own: string[] = [];
  const upstreams = createUpstreams({
    ...config.hosts,
    others: () => [config.controlUrl, ...own],
  });
  const tracer = startTracer('svc-gateway', config.otlpEndpoint, log);
  const parts: ServeParts = {
    limits,
    trustedHops: config.trustedHops,
    template,
    routes,
    upstreams,
    visits,
    door: createDoor({ client, passes, template, log }),
    passCookie: passes.cookieName,
    agent: new Agent({ keepAlive: true, timeout: idleUpstreamMs, maxFreeSockets: 64 }),
    refuser,
    isStopping,
    // The session may have moved while the host was being connected to.
    onTunnel: (sessionId) => void checkTunnels(visits, routes, [sessionId]),
    firstRequests: createFirstRequests(tracer, limits.routes),
    metrics,
    log,
  };
  const mcpParts = { ...parts, control: controlPlaceOf(config.controlUrl) };
  const following = startFollowing({
    client,
    routes,
    onChange(sessionIds) {
      const tunnelled = new Set(visits.tunnelled());
      const changed = sessionIds?.filter((id) => tunnelled.has(id)) ?? [...tunnelled];
      void checkTunnels(visits, routes, changed);
    },
    log,
  });

  const onFault =
    ({ response }: Arrival) =>
    (err: unknown): void => {
      log.error({ err }, 'a request was given up for a fault of the gateway');
      response.destroy();
    };
  const handle = (arrival: Arrival): void => {
    const { request, response } = arrival;
    const target = readTarget(request, template);
    if (target.kind === 'mcp') relayMcp(mcpParts, arrival, target).catch(onFault(arrival));
    else if (target.kind === 'surface')
      serveSurface(parts, arrival, target).catch(onFault(arrival));
    else if (target.kind === 'refused')
      refuser.answer(request, response, target.refusal, { isLast: true });
    else answerOwn(arrival, target.path, { following, isStopping, refuser });
  };

  const board = createLoopBoard();
  for (const loop of [following.loop, ...tracer.loops]) board.show(loop);
  const watched = {
    program: 'gateway',
    registry: metrics.registry,
    loops: board.statuses,
    details: () => ({ ...visits.counts(), routes: routes.size() }),
    log,
  };
  const stack = new AsyncDisposableStack();
  stack.defer(() => tracer.stop());
  stack.defer(() => following.loop.stop());
  let bound: Bound;
  let watching: Bound;
  try {
    watching = await serveMetrics(watched, config.metricsListen);
    stack.defer(() => watching.stop(0));
    bound = await bindAll(() => createGatewayServer(limits, refuser, handle), config.listen);
    own.push(...bound.addresses, ...watching.addresses);
  } catch (error) {
    throw await undoStart(error, stack, (err) => log.error({ err }, 'not released'));
  }

  const end = async (): Promise<void> => {
    await endConnections(bound, visits, shutdown, log);
    parts.agent.destroy();
    await stack.disposeAsync();
  };
  log.info({ addresses: bound.addresses }, 'listening');
  return {
    addresses: bound.addresses,
    metricsAddresses: watching.addresses,
    stopDeadlineMs: shutdown.drainMs + shutdown.finishMs + releaseMs,
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
};

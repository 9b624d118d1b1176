/**
 * Wires the gateway together: the route table and the feed that keeps it current, the access control of surfaces, and
 * the server. It keeps no state that another replica would need. Its token only permits it to read routes and consume
 * links.
 */
import { Agent } from 'node:http';
import pMap from 'p-map';
import { type Bound, bindAll } from '#runtime/listen.ts';
import type { Log } from '#runtime/log.ts';
import { createLoopBoard, type LoopView } from '#runtime/loop-board.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import { pause } from '#runtime/pause.ts';
import { undoStart } from '#runtime/release.ts';
import type { Running } from '#runtime/run.ts';
import { createPasses } from '#runtime/surface-pass.ts';
import { startTracer, type Tracer } from '#runtime/tracing.ts';
import { type Client, createClient } from '#wire/client.ts';
import { resolveRoute } from '#wire/gateway-api/operations.ts';
import type { GatewayConfig } from './config.ts';
import { createSurfaceAccess } from './entry/enter.ts';
import type { Refusal } from './http/refusals.ts';
import { createRefuser } from './http/refuser.ts';
import { type Arrival, createGatewayServer } from './http/server.ts';
import { readTarget } from './http/target.ts';
import { createUpstreams } from './http/upstreams.ts';
import { type Following, startFollowing } from './routes/follow.ts';
import { createRouteTable, type RouteTable } from './routes/route-table.ts';
import { createFirstRequests } from './serving/first-requests.ts';
import { addGauges, createMetrics } from './serving/metrics.ts';
import { answerOwn } from './serving/own-routes.ts';
import { type ControlPlace, controlPlaceOf, relayMcp } from './serving/relay-mcp.ts';
import { type ServeParts, serveSurface } from './serving/serve.ts';
import { createVisits, type Visits } from './serving/visits.ts';

export type RunningGateway = Running & {
  /** `http://host:port` of each address that the gateway listens on. */
  addresses: string[];
  /** `http://host:port` of each address that serves metrics. */
  metricsAddresses: string[];
};

/** Timeout of one route lookup, in milliseconds. After it the route is treated as unknown. */
const askMs = 3_000;
/**
 * Maximum idle time of upstream connections, in milliseconds. It is shorter than that of hosts, so that no request uses
 * a connection that the host is closing.
 */
const idleUpstreamMs = 4_000;
/** Maximum time for the rest of a shutdown, once all connections have ended, in milliseconds. */
const releaseMs = 1_000;
const checksAtOnce = 8;

/** Closes the tunnels of sessions that have moved to another host or have ended. */
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

/**
 * Keeps serving for a while after reporting unready, lets open requests finish, and closes the remaining connections.
 */
const endConnections = async (
  bound: Bound,
  visits: Visits,
  shutdown: GatewayConfig['shutdown'],
  log: Log,
): Promise<void> => {
  if (shutdown.drainMs > 0) {
    log.info(shutdown, 'stopping; still serving until load balancers have noticed');
    await pause(shutdown.drainMs);
  }
  const closed = bound.stop(shutdown.finishMs);
  await Promise.race([closed, pause(shutdown.finishMs)]);
  for (const sessionId of visits.tunnelled()) visits.cutTunnels(sessionId, []);
  await closed;
};

type Wiring = {
  client: Client;
  tracer: Tracer;
  isStopping(): boolean;
  /** Returns the gateway's own addresses, to which it never relays. */
  own(): readonly string[];
  log: Log;
};

/** Creates the route table, which asks the control plane for routes that it does not have. */
const createRoutes = (client: Client, most: number): RouteTable =>
  createRouteTable({
    most,
    async ask(sessionId) {
      const signal = AbortSignal.timeout(askMs);
      return (await client.send(resolveRoute, { params: { sessionId }, signal })).body;
    },
  });

/** Creates the components that serve a request. */
const createParts = (config: GatewayConfig, wiring: Wiring): ServeParts => {
  const { limits, template, token } = config;
  const { client, tracer, isStopping, own, log } = wiring;
  const routes = createRoutes(client, limits.routes);
  const visits = createVisits(limits.perSession);
  const metrics = createMetrics();
  addGauges(metrics, visits, routes);
  const passes = createPasses({ token, scheme: template.scheme });
  const onRefusal = ({ code }: Refusal) => metrics.refusals.inc({ code });
  return {
    limits,
    trustedHops: config.trustedHops,
    template,
    routes,
    upstreams: createUpstreams({
      ...config.hosts,
      others: () => [config.controlUrl, ...own()],
    }),
    visits,
    access: createSurfaceAccess({ client, passes, template, log }),
    passCookie: passes.cookieName,
    agent: new Agent({ keepAlive: true, timeout: idleUpstreamMs, maxFreeSockets: 64 }),
    refuser: createRefuser({ isStopping, onRefusal }),
    isStopping,
    // The session may have moved while the host was being connected to.
    onTunnel: (sessionId) => void checkTunnels(visits, routes, [sessionId]),
    firstRequests: createFirstRequests(tracer, limits.routes),
    metrics,
    log,
  };
};

/** Starts to follow changes of routes, and checks the tunnels of each changed session. */
const followChanges = (client: Client, { routes, visits, log }: ServeParts): Following =>
  startFollowing({
    client,
    routes,
    onChange(sessionIds) {
      const tunnelled = new Set(visits.tunnelled());
      const changed = sessionIds?.filter((id) => tunnelled.has(id)) ?? [...tunnelled];
      void checkTunnels(visits, routes, changed);
    },
    log,
  });

/** Returns the handler of all requests, which dispatches them by their target. */
const createHandler = (
  parts: ServeParts,
  control: ControlPlace,
  following: Following,
): ((arrival: Arrival) => void) => {
  const { template, refuser, isStopping, log } = parts;
  const mcpParts = { ...parts, control };
  const onFault =
    ({ response }: Arrival) =>
    (err: unknown): void => {
      log.error({ err }, 'a request failed because of a fault of the gateway');
      response.destroy();
    };
  return (arrival) => {
    const { request, response } = arrival;
    const target = readTarget(request, template);
    if (target.kind === 'mcp') relayMcp(mcpParts, arrival, target).catch(onFault(arrival));
    else if (target.kind === 'surface')
      serveSurface(parts, arrival, target).catch(onFault(arrival));
    else if (target.kind === 'refused')
      refuser.answer(request, response, target.refusal, { isLast: true });
    else answerOwn(arrival, target.path, { following, isStopping, refuser });
  };
};

/** Starts the endpoint that serves the metrics and the status of the background loops. */
const serveWatched = (
  { metrics, visits, routes, log }: ServeParts,
  loops: readonly LoopView[],
  listen: GatewayConfig['metricsListen'],
): Promise<Bound> => {
  const board = createLoopBoard();
  for (const loop of loops) board.show(loop);
  const watched = {
    program: 'gateway',
    registry: metrics.registry,
    loops: board.statuses,
    details: () => ({ ...visits.counts(), routes: routes.size() }),
    log,
  };
  return serveMetrics(watched, listen);
};

/** Starts a gateway. It reports ready after the first answer of the control plane. */
export const startGateway = async (config: GatewayConfig, log: Log): Promise<RunningGateway> => {
  const { shutdown } = config;
  const client = createClient({
    baseUrl: `${config.controlUrl}/api/gateway`,
    authorization: `Bearer ${config.token.reveal()}`,
  });
  const own: string[] = [];
  let stopped: Promise<void> | undefined;
  const isStopping = () => stopped !== undefined;
  const tracer = startTracer('svc-gateway', config.otlpEndpoint, log);
  const parts = createParts(config, { client, tracer, isStopping, own: () => own, log });
  const following = followChanges(client, parts);
  const handle = createHandler(parts, controlPlaceOf(config.controlUrl), following);

  const stack = new AsyncDisposableStack();
  stack.defer(() => tracer.stop());
  stack.defer(() => following.loop.stop());
  let bound: Bound;
  let watching: Bound;
  try {
    const loops = [following.loop, ...tracer.loops];
    watching = await serveWatched(parts, loops, config.metricsListen);
    stack.defer(() => watching.stop(0));
    const create = () => createGatewayServer(config.limits, parts.refuser, handle);
    bound = await bindAll(create, config.listen);
    own.push(...bound.addresses, ...watching.addresses);
  } catch (error) {
    throw await undoStart(error, stack, (err) => log.error({ err }, 'not released'));
  }

  const end = async (): Promise<void> => {
    await endConnections(bound, parts.visits, shutdown, log);
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

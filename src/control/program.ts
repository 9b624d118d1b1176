/**
 * Wires the control plane together: schema, database, blobs, notifications, the APIs, and their listeners. It holds no
 * state that another replica would need.
 */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Log } from '#runtime/log.ts';
import { createLoopBoard } from '#runtime/loop-board.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import { pause } from '#runtime/pause.ts';
import { undoStart } from '#runtime/release.ts';
import type { Running } from '#runtime/run.ts';
import { removeLeft } from '#runtime/scratch-files.ts';
import { startTracer } from '#runtime/tracing.ts';
import { createOpenPriority } from './base/fairness/open-priority.ts';
import { createHolds } from './base/fairness/request-holds.ts';
import type { ControlConfig } from './config.ts';
import { type ListenerName, listenerNames } from './config.ts';
import { openDatabase, tracePool } from './db/core/database.ts';
import { migrate } from './db/core/migrate.ts';
import { watchSchema } from './db/core/watch-schema.ts';
import { readBacklog } from './db/sessions/backlog.ts';
import { createCallWrites } from './db/sessions/batched-calls.ts';
import { adminEndpoints } from './http/admin/endpoints.ts';
import { gatewayEndpoints } from './http/gateway/endpoints.ts';
import { hostEndpoints } from './http/host/endpoints.ts';
import { createTunnels } from './http/host/tunnel.ts';
import { poolEndpoints } from './http/pool/endpoints.ts';
import { publicEndpoints } from './http/public/endpoints.ts';
import { dashboardAddressEndpoints } from './http/public/observability/dashboard-address.ts';
import { worldAddressEndpoints } from './http/public/worlds/world-address.ts';
import { senderEndpoints } from './http/sender/endpoints.ts';
import { type Authenticate, createAuthenticate } from './http/server/auth.ts';
import { createGuard } from './http/server/cross-site.ts';
import { addDashboardPages } from './http/server/dashboard-pages.ts';
import { createShare } from './http/server/fair-share.ts';
import { createFindAsker } from './http/server/fairness-keys.ts';
import { addHealthRoutes, addPublicHealth } from './http/server/health.ts';
import { type KeyUsage, startKeyUsage } from './http/server/key-usage.ts';
import { groupListeners, type Listening, listen, usualTimes } from './http/server/listen.ts';
import { allowPages } from './http/server/methods.ts';
import { openApiDocument } from './http/server/openapi.ts';
import type { Ways } from './http/server/perform.ts';
import { createLimitRate } from './http/server/rate-limits.ts';
import { type Api, createServer } from './http/server/server.ts';
import { addSignedBlobRoutes } from './http/server/signed-blobs.ts';
import { createUploads, type Uploads } from './http/server/uploads.ts';
import { startLoops } from './loops.ts';
import {
  createDashboardProcesses,
  type DashboardJobKind,
} from './observability/dashboard-code/process-pools.ts';
import { dashboardPath } from './observability/dashboards/view.ts';
import { openTraceStore } from './observability/ingestion/store.ts';
import { findInProcesses } from './observability/models/patterns.ts';
import { createPriceBook } from './observability/models/price-book.ts';
import type { Parts } from './parts.ts';
import { openBlobs } from './platform/blobs/open.ts';
import { createSignedAddresses } from './platform/blobs/signed.ts';
import { createSmallBlobs } from './platform/blobs/small.ts';
import { createCallRate } from './platform/limits/call-rate.ts';
import { startNotifications } from './platform/notifications/notifications.ts';
import { createMetrics } from './platform/telemetry/counters.ts';
import { addLoadMetrics } from './platform/telemetry/gauges.ts';
import { openConfiguredKeys } from './platform/tokens/keys-in-use.ts';
import { openSecretsInUse } from './platform/tokens/secrets-in-use.ts';
import { createDefaultTiers } from './projects/default-tiers.ts';
import { createSessionFacts } from './sessions/caches/session-facts.ts';
import { createAdmission } from './sessions/scheduling/admission.ts';
import { createBrowserAssigner } from './sessions/scheduling/browser-assigner.ts';
import { createHostAssigner } from './sessions/scheduling/host-assigner.ts';
import { createWaitingHosts } from './sessions/scheduling/waiting-hosts.ts';
import { createMcpTools } from './worlds/caches/mcp-tools.ts';
import { createVersions } from './worlds/caches/versions.ts';
import { createWorldLookup } from './worlds/caches/world-lookup.ts';
import { createBodyReader, readingLimits } from './worlds/compile/body-reader.ts';
import { createRowCarrier } from './worlds/compile/carry.ts';
import { createCompiler } from './worlds/compile/compiler.ts';
import { createGradeReader } from './worlds/compile/grade-reader.ts';
import type { JobKind } from './worlds/compile/job.ts';
import { type StartCompileProcess, startCompileProcess } from './worlds/compile/process.ts';
import { createProcessPool, type EndedJob } from './worlds/compile/process-pool.ts';
import { openSnapshots } from './worlds/data/imports.ts';
import { createFieldIndexes } from './worlds/query/field-indexes.ts';
import { createQueries } from './worlds/query/queries.ts';

export type RunningControl = Running & {
  /** Addresses of each listener, as `http://host:port`. */
  addresses: Record<ListenerName, string[]>;
  /** Addresses that serve its metrics, as `http://host:port`. */
  metricsAddresses: string[];
  /** HTTP application with all APIs, for tests that call it without a socket. */
  app: FastifyInstance;
};

const publicPath = '/api/public';

/** Time allowed for closing the database and other resources after all requests have ended. */
const releaseMs = 1_000;

/** Returns every API, with the listener that serves it. */
const apisOf = (parts: Parts, ways: Ways): (Api & { at: ListenerName })[] => [
  { at: 'public', prefix: publicPath, endpoints: publicEndpoints(parts, ways) },
  { at: 'public', prefix: '/world', endpoints: worldAddressEndpoints(parts) },
  { at: 'public', prefix: dashboardPath, endpoints: dashboardAddressEndpoints(parts) },
  { at: 'host', prefix: '/api/host', endpoints: hostEndpoints(parts) },
  { at: 'internal', prefix: '/api/pool', endpoints: poolEndpoints(parts) },
  { at: 'internal', prefix: '/api/gateway', endpoints: gatewayEndpoints(parts) },
  { at: 'internal', prefix: '/api/sender', endpoints: senderEndpoints(parts) },
  { at: 'internal', prefix: '/api/admin', endpoints: adminEndpoints(parts) },
];

const addPublicRoutes = (app: FastifyInstance, parts: Parts, api: Api): void => {
  const operations = api.endpoints.map(({ operation }) => operation);
  // The document is the same for every client, so it is written once.
  let document: string | undefined;
  app.route({
    method: ['GET', 'HEAD'],
    url: `${publicPath}/openapi.json`,
    // Read without authentication. The access level only lets pages of other origins read it.
    config: { access: 'read' },
    handler: async (_, reply) => {
      document ??= JSON.stringify(openApiDocument(operations, `${parts.publicUrl()}${publicPath}`));
      allowPages(reply);
      return reply.type('application/json; charset=utf-8').send(document);
    },
  });
};

/**
 * Creates the function that makes an application for some listeners, with the routes that these serve and no others.
 * Host listeners serve only the host API: code in hosts' containers must not see the state of the program.
 */
const appMaker = (
  parts: Parts,
  { uploads, authenticate, uses }: { uploads: Uploads; authenticate: Authenticate; uses: KeyUsage },
  isStopping: () => boolean,
) => {
  const { config, db, readBody, metrics, log } = parts;
  const findAsker = createFindAsker(db);
  const share = createShare(parts.holds, metrics);
  const limitRate = createLimitRate(db, config.rateLimit);
  const { publicUrl, gateway, allowed } = config;
  const guard = createGuard({ publicUrl, gateway, ...allowed });
  const all = apisOf(parts, { findAsker, readBody, share });
  return (serves: readonly ListenerName[]): FastifyInstance => {
    const apis = all.filter(({ at }) => serves.includes(at));
    const others = all.filter((api) => !apis.includes(api));
    const elsewhere = others.map(({ prefix }) => prefix);
    const ways = { authenticate, guard, findAsker, uploads, readBody, share, limitRate, uses };
    return createServer({ apis, elsewhere, ...ways, metrics, log }, (app) => {
      if (serves.some((name) => name !== 'host')) addHealthRoutes(app, { ...parts, isStopping });
      const publicApi = apis.find(({ at }) => at === 'public');
      if (publicApi === undefined) return;
      addPublicRoutes(app, parts, publicApi);
      addPublicHealth(app, publicPath);
      addSignedBlobRoutes(app, parts);
      addDashboardPages(app, parts);
    });
  };
};

type Served = { serves: readonly ListenerName[]; app: FastifyInstance; listening: Listening };

/** Returns the bound addresses of a listener. */
const addressesOf = (served: readonly Served[], name: ListenerName): string[] =>
  served.flatMap(({ serves, listening }) => (serves.includes(name) ? listening.addresses : []));

/** Stops all listeners at once, so that each gets the whole deadline. */
const stopAll = async (served: readonly Served[], deadlineMs: number): Promise<void> => {
  await Promise.all(served.map(({ listening }) => listening.stop(deadlineMs)));
  await Promise.all(served.map(({ app }) => app.close()));
};

/**
 * Starts the control plane: it migrates the database, then serves until it is stopped. `startCompiling` starts the
 * processes that compile.
 */
export const startControl = async (
  config: ControlConfig,
  log: Log,
  startCompiling: StartCompileProcess = startCompileProcess,
): Promise<RunningControl> => {
  const migrations = await migrate(config.databaseUrl.reveal());
  if (migrations.length > 0) log.info({ migrations }, 'database migrated');
  const stack = new AsyncDisposableStack();
  try {
    const db = openDatabase(config.databaseUrl, log);
    stack.defer(() => db.close());
    const tracesDb = openDatabase(config.databaseUrl, log, tracePool);
    stack.defer(() => tracesDb.close());
    const namesKeys = await openConfiguredKeys(db, config.bootstrap, log);
    stack.defer(() => namesKeys.stop());
    const schema = watchSchema(db, log);
    stack.defer(() => schema.loop.stop());
    for (const name of ['exports', 'received', 'synced']) {
      const files = await removeLeft(join(config.workDir, name));
      if (files > 0) log.info({ files, folder: name }, 'removed files that a program before left');
    }
    const blobs = await openBlobs(config.blobs, db, config.workDir);
    const notifications = startNotifications(config.databaseUrl, db, log);
    stack.defer(() => notifications.stop());
    const metrics = createMetrics();
    const tracer = startTracer('svc-control', config.otlpEndpoint, log);
    stack.defer(() => tracer.stop());
    const noteJob = ({
      kind,
      outcome,
      seconds,
    }: EndedJob<JobKind | DashboardJobKind | 'query' | 'field_index' | 'carry'>): void => {
      metrics.compileJobs.inc({ kind, outcome });
      metrics.compileSeconds.observe({ kind }, seconds);
    };
    const refused = (quota: string) => metrics.compileRefusals.inc({ quota });
    const watch = { ended: noteJob, refused };
    const compiler = createCompiler(config.compile, watch, startCompiling);
    stack.defer(() => compiler.stop());
    const rowCarrier = createRowCarrier(noteJob);
    stack.defer(() => rowCarrier.stop());
    const dashboards = createDashboardProcesses(noteJob);
    stack.defer(() => dashboards.stop());
    const readers = createProcessPool(readingLimits, noteJob, startCompiling);
    stack.defer(() => readers.stop());
    const openPriority = createOpenPriority();
    const prices = createPriceBook(findInProcesses(readers, log));
    const traces = openTraceStore(tracesDb, prices, openPriority);
    const { secrets, loop: tellsSecrets } = await openSecretsInUse(db, config.secret, log);
    stack.defer(() => tellsSecrets.stop());
    let stopped: Promise<void> | undefined;
    const served: Served[] = [];
    const admission = createAdmission(config.opens, (wish) => readBacklog(db, wish));
    const publicUrl = () => config.publicUrl ?? addressesOf(served, 'public')[0] ?? '';
    const snapshots = await openSnapshots(config.workDir, config.imports.diskMib);
    stack.defer(() => snapshots.close());
    const queries = createQueries(config.queries, noteJob);
    stack.defer(() => queries.stop());
    const fieldIndexes = createFieldIndexes(noteJob);
    stack.defer(() => fieldIndexes.stop());
    const versions = createVersions(db);
    const parts: Parts = {
      config,
      publicUrl,
      db,
      traces,
      openPriority,
      callWrites: createCallWrites(db),
      blobs,
      smallBlobs: createSmallBlobs(blobs),
      addresses: createSignedAddresses({ secret: config.secret, blobs, baseUrl: publicUrl }),
      notifications,
      metrics,
      admission,
      hostAssigner: createHostAssigner({ admission, db, log, metrics, notifications, tracer }),
      browserAssigner: createBrowserAssigner({ db, log, metrics, notifications }),
      tracer,
      versions,
      worldLookup: createWorldLookup(),
      defaultTiers: createDefaultTiers(db, config.browserTier),
      mcpTools: createMcpTools(versions.texts, readers),
      holds: createHolds(config.quotas.waits),
      secrets,
      facts: createSessionFacts(db),
      waitingHosts: createWaitingHosts((sessionId) => notifications.ring(sessionId)),
      callRate: createCallRate(db, config.quotas.callsPerMinute),
      snapshots,
      queries,
      fieldIndexes,
      compiler,
      dashboards,
      rowCarrier,
      readBody: createBodyReader(readers),
      readGrade: createGradeReader(readers),
      log,
    };
    const background = await startLoops(parts, stack);
    const uploads = createUploads({ allMib: config.uploadMib, oneMib: config.quotas.uploadMib });
    addLoadMetrics(parts, uploads);
    const uses = startKeyUsage(db, log);
    stack.defer(() => uses.stop());
    const board = createLoopBoard();
    const told = [tellsSecrets, ...(namesKeys === undefined ? [] : [namesKeys])];
    const loops = [
      schema.loop,
      ...background,
      uses.loop,
      ...notifications.loops,
      ...told,
      ...tracer.loops,
    ];
    for (const loop of loops) board.show(loop);
    const watched = { program: 'control', registry: metrics.registry, loops: board.statuses, log };
    const watching = await serveMetrics(watched, config.metricsListen);
    stack.defer(() => watching.stop(0));
    const authenticate = createAuthenticate(config, db, secrets, log);
    const makeApp = appMaker(parts, { uploads, authenticate, uses }, () => stopped !== undefined);
    const tunnels = createTunnels(parts, authenticate);
    const { drainMs, finishMs } = config.shutdown;
    stack.defer(() => stopAll(served, finishMs));
    stack.defer(() => tunnels.close());
    for (const { serves, addresses } of groupListeners(config.listen)) {
      const app = makeApp(serves);
      const { onConnect } = tunnels;
      const options = serves.includes('host') ? { ...usualTimes, onConnect } : usualTimes;
      served.push({ serves, app, listening: await listen(app, addresses, options) });
    }
    const end = async (): Promise<void> => {
      for (const { listening } of served) listening.drain();
      if (drainMs > 0) {
        log.info({ drainMs }, 'told to stop; serving on until balancers have noticed');
        await pause(drainMs);
      }
      // Long polls are answered at once; all other requests finish their work.
      notifications.close();
      await stack.disposeAsync();
    };
    const addresses = {
      public: addressesOf(served, 'public'),
      host: addressesOf(served, 'host'),
      internal: addressesOf(served, 'internal'),
    };
    log.info({ addresses }, 'listening');
    let whole: FastifyInstance | undefined;
    return {
      addresses,
      metricsAddresses: watching.addresses,
      get app() {
        whole ??= makeApp(listenerNames);
        return whole;
      },
      stopDeadlineMs: drainMs + finishMs + releaseMs,
      ended: schema.lost,
      stop() {
        stopped ??= end();
        return stopped;
      },
    };
  } catch (error) {
    throw await undoStart(error, stack, (err) => log.error({ err }, 'not released'));
  }
};

/**
 * Wires the control plane together: schema, database, blobs, news, the three APIs, and the addresses
 * they are served on. It keeps nothing that another replica would need.
 */
import type { FastifyInstance } from 'fastify';
import type { Log } from '#runtime/log.ts';
import { createLoopBoard } from '#runtime/loop-board.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import { pause } from '#runtime/pause.ts';
import type { Running } from '#runtime/run.ts';
import { startTracer } from '#runtime/tracing.ts';
import { openBlobs } from './blobs/open.ts';
import { createSmallBlobs } from './blobs/small.ts';
import { createSeats } from './calls/seats.ts';
import type { ControlConfig } from './config.ts';
import { ensureKeyPair } from './db/keys.ts';
import { migrate } from './db/migrate.ts';
import { createPlacer } from './db/placement.ts';
import { type Database, openDatabase } from './db/pool.ts';
import { adminEndpoints } from './http/admin/endpoints.ts';
import { createAuthenticate, hashSecretKey } from './http/auth.ts';
import { gatewayEndpoints } from './http/gateway/endpoints.ts';
import { addHealthRoutes } from './http/health.ts';
import { hostEndpoints } from './http/host/endpoints.ts';
import { type Listening, listen } from './http/listen.ts';
import { openApiDocument } from './http/openapi.ts';
import { poolEndpoints } from './http/pool/endpoints.ts';
import { publicEndpoints } from './http/public/endpoints.ts';
import { createServer } from './http/server.ts';
import { addLoadMetrics } from './load-metrics.ts';
import { createMetrics } from './metrics.ts';
import { startNotices } from './notify.ts';
import type { Parts } from './parts.ts';
import { createSessionFacts } from './sessions/facts.ts';
import { createCompiler } from './worlds/compiler.ts';
import { createVersions } from './worlds/versions.ts';

export type RunningControl = Running & {
  /** `http://host:port` of each address that it listens on. */
  addresses: string[];
  /** `http://host:port` of each address with its metrics. */
  metricsAddresses: string[];
  /** The HTTP application, for tests that call it without a socket. */
  app: FastifyInstance;
};

const publicPath = '/api/public';

/** What closing the database and the rest may take when all requests have ended. */
const releaseMs = 1_000;

const bootstrap = async (db: Database, key: ControlConfig['bootstrap']): Promise<void> => {
  if (key === null) return;
  const place = { organization: 'local', project: 'default' };
  const secretHash = hashSecretKey(key.secretKey.reveal());
  await ensureKeyPair(db, place, { publicKey: key.publicKey, secretHash });
};

const createApp = (parts: Parts, isEnding: () => boolean): FastifyInstance => {
  const { config, db, metrics, log } = parts;
  const endpoints = publicEndpoints(parts);
  const operations = endpoints.map(({ operation }) => operation);
  const apis = [
    { prefix: publicPath, endpoints },
    { prefix: '/api/host', endpoints: hostEndpoints(parts) },
    { prefix: '/api/pool', endpoints: poolEndpoints(parts) },
    { prefix: '/api/gateway', endpoints: gatewayEndpoints(parts) },
    { prefix: '/api/admin', endpoints: adminEndpoints(parts) },
  ];
  const authenticate = createAuthenticate(config, db, log);
  return createServer({ apis, authenticate, metrics, log }, (app) => {
    addHealthRoutes(app, { ...parts, isEnding });
    app.get(`${publicPath}/openapi.json`, async () =>
      openApiDocument(operations, `${parts.publicUrl()}${publicPath}`),
    );
  });
};

/** What has to be undone when the start fails half-way, or at the end: the last made goes first. */
const releaseAll = async (releases: readonly (() => Promise<void>)[]): Promise<void> => {
  for (const release of releases.toReversed()) await release();
};

/** Starts the control plane: it migrates the database, then serves until it is stopped. */
export const startControl = async (config: ControlConfig, log: Log): Promise<RunningControl> => {
  const migrations = await migrate(config.databaseUrl.reveal());
  if (migrations.length > 0) log.info({ migrations }, 'database migrated');
  const releases: (() => Promise<void>)[] = [];
  try {
    const db = openDatabase(config.databaseUrl, log);
    releases.push(() => db.close());
    await bootstrap(db, config.bootstrap);
    const blobs = await openBlobs(config.blobs);
    const notices = startNotices(config, db, log);
    releases.push(() => notices.stop());
    const metrics = createMetrics();
    const tracer = startTracer('svc-control', config.otlpEndpoint, log);
    releases.push(() => tracer.stop());
    const compiler = createCompiler(config.compile, ({ kind, outcome, seconds }) => {
      metrics.compileJobs.inc({ kind, outcome });
      metrics.compileSeconds.observe({ kind }, seconds);
    });
    releases.push(() => compiler.stop());
    let listening: Listening | undefined;
    let stopped: Promise<void> | undefined;
    const parts: Parts = {
      config,
      publicUrl: () => config.publicUrl ?? listening?.addresses[0] ?? '',
      db,
      blobs,
      smallBlobs: createSmallBlobs(blobs),
      notices,
      metrics,
      placer: createPlacer(db),
      tracer,
      versions: createVersions(db),
      facts: createSessionFacts(db),
      seats: createSeats((sessionId) => notices.ring(sessionId)),
      compiler,
      log,
    };
    addLoadMetrics(parts);
    const board = createLoopBoard();
    for (const loop of [notices.loop, ...tracer.loops]) board.show(loop);
    const watched = { program: 'control', registry: metrics.registry, loops: board.statuses, log };
    const watching = await serveMetrics(watched, config.metricsListen);
    releases.push(() => watching.stop(0));
    const app = createApp(parts, () => stopped !== undefined);
    releases.push(() => app.close());
    const bound = await listen(app, config.listen);
    listening = bound;
    const { drainMs, finishMs } = config.ending;
    releases.push(() => bound.stop(finishMs));
    const end = async (): Promise<void> => {
      bound.drain();
      if (drainMs > 0) {
        log.info({ drainMs }, 'told to stop; serving on until balancers have noticed');
        await pause(drainMs);
      }
      // Long polls answer at once; everything else finishes what it has begun.
      notices.close();
      await releaseAll(releases);
    };
    log.info({ addresses: bound.addresses }, 'listening');
    return {
      addresses: bound.addresses,
      metricsAddresses: watching.addresses,
      app,
      stopDeadlineMs: drainMs + finishMs + releaseMs,
      stop() {
        stopped ??= end();
        return stopped;
      },
    };
  } catch (error) {
    await releaseAll(releases);
    throw error;
  }
};

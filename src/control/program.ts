/**
 * Wires the control plane together: it migrates the database, builds the parts, starts the loops, and serves the APIs.
 * It holds no state that another replica would need.
 */
import type { FastifyInstance } from 'fastify';
import type { Log } from '#runtime/log.ts';
import { createLoopBoard, type LoopView } from '#runtime/loop-board.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import { pause } from '#runtime/pause.ts';
import { undoStart } from '#runtime/release.ts';
import type { Running } from '#runtime/run.ts';
import { createAppMaker } from './apps.ts';
import { buildParts } from './build-parts.ts';
import type { ControlConfig } from './config.ts';
import { type ListenerName, listenerNames } from './config.ts';
import { openDatabase } from './db/core/database.ts';
import { migrate } from './db/core/migrate.ts';
import { watchSchema } from './db/core/watch-schema.ts';
import { createTunnels, type Tunnels } from './http/host/tunnel.ts';
import { createAuthenticate } from './http/server/auth.ts';
import { startKeyUsage } from './http/server/key-usage.ts';
import { groupListeners, usualTimes } from './http/server/listen.ts';
import { Listeners } from './http/server/listeners.ts';
import { createUploads } from './http/server/uploads.ts';
import { startLoops } from './loops.ts';
import type { Parts } from './parts.ts';
import { addLoadMetrics } from './platform/telemetry/gauges.ts';
import { type StartCompileProcess, startCompileProcess } from './worlds/compile/process.ts';

export type RunningControl = Running & {
  /** Addresses of each listener, as `http://host:port`. */
  addresses: Record<ListenerName, string[]>;
  /** Addresses that serve its metrics, as `http://host:port`. */
  metricsAddresses: string[];
  /** HTTP application with all APIs, for tests that call it without a socket. */
  app: FastifyInstance;
};

/** Time allowed for closing the database and other resources after all requests have ended. */
const releaseMs = 1_000;

/** Serves the metrics, and the status of the loops; returns the addresses. */
const serveStatus = async (
  { config, metrics, log }: Parts,
  loops: readonly LoopView[],
  stack: AsyncDisposableStack,
): Promise<string[]> => {
  const board = createLoopBoard();
  for (const loop of loops) board.show(loop);
  const watched = { program: 'control', registry: metrics.registry, loops: board.statuses, log };
  const watching = await serveMetrics(watched, config.metricsListen);
  stack.defer(() => watching.stop(0));
  return watching.addresses;
};

/**
 * Listens on all configured addresses with the applications. Addresses of the host API also accept the tunnels of
 * browsers' hosts.
 */
const serve = async (
  parts: Parts,
  listeners: Listeners,
  makeApp: ReturnType<typeof createAppMaker>,
  { onConnect }: Tunnels,
): Promise<void> => {
  for (const group of groupListeners(parts.config.listen)) {
    const options = group.serves.includes('host') ? { ...usualTimes, onConnect } : usualTimes;
    await listeners.start(group, makeApp(group.serves), options);
  }
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
    const schema = watchSchema(db, log);
    stack.defer(() => schema.loop.stop());
    const listeners = new Listeners();
    const publicUrl = () => config.publicUrl ?? listeners.addressesOf('public')[0] ?? '';
    const building = { config, db, log, publicUrl, startCompiling, stack };
    const { parts, loops: loopsOfParts } = await buildParts(building);
    const background = await startLoops(parts, stack);
    const uploads = createUploads({ allMib: config.uploadMib, oneMib: config.quotas.uploadMib });
    addLoadMetrics(parts, uploads);
    const uses = startKeyUsage(db, log);
    stack.defer(() => uses.stop());
    const loops = [schema.loop, ...background, uses.loop, ...loopsOfParts];
    const metricsAddresses = await serveStatus(parts, loops, stack);
    let stopped: Promise<void> | undefined;
    const isStopping = () => stopped !== undefined;
    const authenticate = createAuthenticate(config, db, parts.secrets, log);
    const makeApp = createAppMaker(parts, { uploads, authenticate, uses, isStopping });
    const tunnels = createTunnels(parts, authenticate);
    const { drainMs, finishMs } = config.shutdown;
    stack.defer(() => listeners.stop(finishMs));
    stack.defer(() => tunnels.close());
    await serve(parts, listeners, makeApp, tunnels);
    const end = async (): Promise<void> => {
      listeners.drain();
      if (drainMs > 0) {
        log.info({ drainMs }, 'stopping; still serves until load balancers have noticed');
        await pause(drainMs);
      }
      // Long polls are answered at once; all other requests finish their work.
      parts.notifications.close();
      await stack.disposeAsync();
    };
    const addresses = listeners.addresses();
    log.info({ addresses }, 'listening');
    let whole: FastifyInstance | undefined;
    return {
      addresses,
      metricsAddresses,
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

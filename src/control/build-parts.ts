/**
 * Builds the parts of a control plane, one theme (a folder such as `worlds/`) after the other. Each theme uses the
 * parts of the themes below it. `stack` stops everything that the themes have started, in reverse order.
 */
import { join } from 'node:path';
import type { Log } from '#runtime/log.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import { removeLeft } from '#runtime/scratch-files.ts';
import { startTracer } from '#runtime/tracing.ts';
import { createOpenPriority } from './base/fairness/open-priority.ts';
import { createHolds } from './base/fairness/request-holds.ts';
import type { ControlConfig } from './config.ts';
import { type Database, openDatabase, tracePool } from './db/core/database.ts';
import { readBacklog } from './db/sessions/backlog.ts';
import { createCallWrites } from './db/sessions/batched-calls.ts';
import {
  createDashboardProcesses,
  type DashboardJobKind,
} from './observability/dashboard-code/process-pools.ts';
import { openTraceStore } from './observability/ingestion/store.ts';
import { findInProcesses } from './observability/models/patterns.ts';
import { createPriceBook } from './observability/models/price-book.ts';
import type { Parts } from './parts.ts';
import { openBlobs } from './platform/blobs/open.ts';
import { createSignedAddresses } from './platform/blobs/signed.ts';
import { createSmallBlobs } from './platform/blobs/small.ts';
import { createCallRate } from './platform/limits/call-rate.ts';
import { startNotifications } from './platform/notifications/notifications.ts';
import { createMetrics, type Metrics } from './platform/telemetry/counters.ts';
import { openConfiguredKeys } from './platform/tokens/keys-in-use.ts';
import { openSecretsInUse } from './platform/tokens/secrets-in-use.ts';
import { createDefaultTiers } from './projects/default-tiers.ts';
import type { ProjectParts } from './projects/parts.ts';
import { createSessionFacts } from './sessions/caches/session-facts.ts';
import type { SessionParts } from './sessions/parts.ts';
import { Admission } from './sessions/scheduling/admission.ts';
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
import type { StartCompileProcess } from './worlds/compile/process.ts';
import {
  createProcessPool,
  type EndedJob,
  type ProcessPool,
} from './worlds/compile/process-pool.ts';
import { openSnapshots } from './worlds/data/imports.ts';
import type { WorldParts } from './worlds/parts.ts';
import { createFieldIndexes } from './worlds/query/field-indexes.ts';
import { createQueries } from './worlds/query/queries.ts';

/** Resources that exist before the parts of a program, and that its parts are built from. */
export type Building = {
  config: ControlConfig;
  db: Database;
  log: Log;
  /** Base address under which clients reach this control plane; known once it listens. */
  publicUrl: () => string;
  /** Starts a process that compiles worlds. */
  startCompiling: StartCompileProcess;
  stack: AsyncDisposableStack;
};

/** Folders of temporary files, below the work folder. */
const scratchFolders = ['exports', 'received', 'synced'];

const removeScratchFiles = async ({ config, log }: Building): Promise<void> => {
  for (const folder of scratchFolders) {
    const files = await removeLeft(join(config.workDir, folder));
    if (files > 0) log.info({ files, folder }, 'removed temporary files of an earlier process');
  }
};

/** Builds the parts of the themes platform and projects; `loops` are the background loops of these parts. */
const buildProjectParts = async (
  building: Building,
): Promise<{ parts: ProjectParts; loops: LoopView[] }> => {
  const { config, db, log, publicUrl, stack } = building;
  const keys = await openConfiguredKeys(db, config.bootstrap, log);
  stack.defer(() => keys.stop());
  await removeScratchFiles(building);
  const blobs = await openBlobs(config.blobs, db, config.workDir);
  const notifications = startNotifications(config.databaseUrl, db, log);
  stack.defer(() => notifications.stop());
  const tracer = startTracer('svc-control', config.otlpEndpoint, log);
  stack.defer(() => tracer.stop());
  const { secrets, loop: secretsLoop } = await openSecretsInUse(db, config.secret, log);
  stack.defer(() => secretsLoop.stop());
  const parts: ProjectParts = {
    config,
    publicUrl,
    db,
    blobs,
    smallBlobs: createSmallBlobs(blobs),
    addresses: createSignedAddresses({ secret: config.secret, blobs, baseUrl: publicUrl }),
    notifications,
    metrics: createMetrics(),
    secrets,
    callRate: createCallRate(db, config.quotas.callsPerMinute),
    defaultTiers: createDefaultTiers(db, config.browserTier),
    holds: createHolds(config.quotas.waits),
    tracer,
    log,
  };
  return { parts, loops: [...notifications.loops, secretsLoop, keys, ...tracer.loops] };
};

type AnyJob = EndedJob<JobKind | DashboardJobKind | 'query' | 'field_index' | 'carry'>;

/** Returns the function that counts the ended jobs of process pools. */
const jobCounter =
  (metrics: Metrics) =>
  ({ kind, outcome, seconds }: AnyJob): void => {
    metrics.compileJobs.inc({ kind, outcome });
    metrics.compileSeconds.observe({ kind }, seconds);
  };

/** Builds the parts of worlds; `readers` are the processes that parse large bodies. */
const buildWorldParts = async (
  below: ProjectParts,
  readers: ProcessPool,
  { startCompiling, stack }: Building,
): Promise<WorldParts> => {
  const { config, db, metrics } = below;
  const ended = jobCounter(metrics);
  const refused = (quota: string) => metrics.compileRefusals.inc({ quota });
  const compiler = createCompiler(config.compile, { ended, refused }, startCompiling);
  stack.defer(() => compiler.stop());
  const rowCarrier = createRowCarrier(ended);
  stack.defer(() => rowCarrier.stop());
  const snapshots = await openSnapshots(config.workDir, config.imports.diskMib);
  stack.defer(() => snapshots.close());
  const queries = createQueries(config.queries, ended);
  stack.defer(() => queries.stop());
  const fieldIndexes = createFieldIndexes(ended);
  stack.defer(() => fieldIndexes.stop());
  const versions = createVersions(db);
  return {
    ...below,
    versions,
    worldLookup: createWorldLookup(),
    mcpTools: createMcpTools(versions.texts, readers),
    snapshots,
    queries,
    fieldIndexes,
    compiler,
    rowCarrier,
    readBody: createBodyReader(readers),
  };
};

const buildSessionParts = (below: WorldParts): SessionParts => {
  const { config, db, log, metrics, notifications, tracer } = below;
  const admission = new Admission(config.opens, (wish) => readBacklog(db, wish));
  return {
    ...below,
    callWrites: createCallWrites(db),
    admission,
    hostAssigner: createHostAssigner({ admission, db, log, metrics, notifications, tracer }),
    browserAssigner: createBrowserAssigner({ db, log, metrics, notifications }),
    facts: createSessionFacts(db),
    waitingHosts: createWaitingHosts((sessionId) => notifications.notifyHere(sessionId)),
    openPriority: createOpenPriority(),
  };
};

/** Builds the parts of observability. Telemetry has database connections of its own. */
const buildObservabilityParts = (
  below: SessionParts,
  readers: ProcessPool,
  { stack }: Building,
): Parts => {
  const { config, log, metrics, openPriority } = below;
  const tracesDb = openDatabase(config.databaseUrl, log, tracePool);
  stack.defer(() => tracesDb.close());
  const dashboards = createDashboardProcesses(jobCounter(metrics));
  stack.defer(() => dashboards.stop());
  const prices = createPriceBook(findInProcesses(readers, log));
  return {
    ...below,
    traces: openTraceStore(tracesDb, prices, openPriority),
    dashboards,
    readGrade: createGradeReader(readers),
  };
};

/** Builds all parts; `loops` are the background loops that the parts run themselves. */
export const buildParts = async (
  building: Building,
): Promise<{ parts: Parts; loops: LoopView[] }> => {
  const { parts: projects, loops } = await buildProjectParts(building);
  const { startCompiling, stack } = building;
  const readers = createProcessPool(readingLimits, jobCounter(projects.metrics), startCompiling);
  stack.defer(() => readers.stop());
  const worlds = await buildWorldParts(projects, readers, building);
  const parts = buildObservabilityParts(buildSessionParts(worlds), readers, building);
  return { parts, loops };
};

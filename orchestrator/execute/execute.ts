/**
 * Executes plans. Requests to the control plane are awaited; steps of the container runtime continue in the background.
 * Each step may be repeated: it checks its preconditions again, and does nothing to a host whose state has changed. A
 * failed step is logged and planned again.
 */
import pMap from 'p-map';
import { AppError, describeError } from '#domain/error.ts';
import type { HostEnd } from '#domain/host.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import type { Log } from '#runtime/log.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { EndAccount, PoolApi } from '../control-plane/pool.ts';
import type { Container, Driver, Launched, LaunchSpec } from '../driver/driver.ts';
import type { PoolMemory } from '../learned/pool-memory.ts';
import type { Background } from '../observe/background.ts';
import type { Action } from '../plan/terms.ts';
import type { Metrics } from '../signals/metrics.ts';

/** Maximum concurrent requests to the control plane. */
const stepsAtOnce = 32;
/**
 * Maximum of concurrent intents among those requests. The control plane writes the intents of one pool one after the
 * other, and each waiting one holds a database connection that opens need.
 */
const intentsAtOnce = 4;

export type ExecutorParts = {
  pool: PoolApi;
  driver: Driver;
  memory: PoolMemory;
  background: Background;
  metrics: Metrics;
  tracer: Tracer;
  log: Log;
  /** Returns the pools as currently configured. */
  pools(): readonly PoolConfig[];
};

/** The session that waits longest for a host of a pool, by the pool's name. */
export type Causes = ReadonlyMap<string, string>;

type Of<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>;

/**
 * Current state that steps read before they act. Each of its values is fetched at most once for all steps of one plan.
 */
type Fresh = {
  containers(): Promise<Map<string, Container>>;
  rows(): Promise<Set<string>>;
};

const readOnce = <Value>(read: () => Promise<Value>): (() => Promise<Value>) => {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= read();
    return value;
  };
};

const isCode = (error: unknown, code: AppError['code']): boolean =>
  error instanceof AppError && error.code === code;

/**
 * Returns true if the error says that the pool is full. The code of the error does not suffice: an overloaded control
 * plane answers with the same code.
 */
const isPoolFull = (error: unknown): boolean =>
  isCode(error, 'exhausted') && (error as AppError).detail.full === 'pool';

/** Returns the last output of a host. */
const outputOf = async (driver: Driver, hostId: string): Promise<string> => {
  const written = await driver
    .logs(hostId)
    .catch((error: unknown) => `its output cannot be read: ${describeError(error)}`);
  return written.trim();
};

const lastLine = (text: string): string => text.slice(text.lastIndexOf('\n') + 1);

/** Returns how a container ended, if known, and the last output of its host. */
const accountOfEnd = async (
  driver: Driver,
  hostId: string,
  container: Container | undefined,
): Promise<EndAccount> => ({
  detail: container?.exit?.detail,
  output: await outputOf(driver, hostId),
  ledger: container?.ledger,
});

/** Returns the runtime's reason about a container, or else the host's output. */
const accountOf = async (
  driver: Driver,
  hostId: string,
  container: Container | undefined,
): Promise<EndAccount> => {
  const reason = container?.reclaimed?.why ?? container?.trouble?.message;
  return reason === undefined ? await accountOfEnd(driver, hostId, container) : { detail: reason };
};

/**
 * Cleans up after a failed launch, so that it leaves neither a container nor a live row; the breaker delays the next
 * one. The row is ended first, unless a successor has adopted the container meanwhile: then the host keeps both its row
 * and its container.
 */
const abandon = async (
  { memory, driver, pool, metrics, log }: ExecutorParts,
  { hostId, shape }: LaunchSpec,
  err: unknown,
): Promise<void> => {
  log.warn({ err, hostId, pool: shape.pool }, 'launch failed');
  const account = { detail: describeError(err), output: await outputOf(driver, hostId) };
  const line = lastLine(account.output);
  const { detail } = account;
  const reason = detail.includes(line) ? detail : `${detail}: ${line}`;
  memory.breakerOf(shape.pool)?.failed(hostId, reason);
  metrics.launches.inc({ pool: shape.pool, outcome: 'failed' });
  if (!(await pool.drain(hostId, { reason: 'exited', ...account, ifState: 'starting' }))) return;
  await driver.destroy(hostId);
  await pool.reportGone(hostId, 'exited', account);
};

/** Launches a host; `cause` is the session that waits for it, if any. */
const launchOne = async (
  parts: ExecutorParts,
  spec: LaunchSpec,
  cause: string | undefined,
): Promise<void> => {
  const { driver, pool, metrics, tracer, log } = parts;
  const { hostId, shape } = spec;
  const startedAt = performance.now();
  let launched: Launched;
  try {
    launched = await driver.launch(spec);
  } catch (error) {
    return abandon(parts, spec, error);
  }
  const tookMs = Math.round(performance.now() - startedAt);
  const endedMs = Date.now();
  if (cause !== undefined) {
    const attributes = { 'svc.pool': shape.pool, 'svc.host.id': hostId };
    tracer.add(cause, { name: 'launch', beganMs: endedMs - tookMs, endedMs, attributes });
  }
  metrics.launches.inc({ pool: shape.pool, outcome: 'launched' });
  metrics.launchSeconds.observe({ pool: shape.pool }, tookMs / 1_000);
  log.info({ hostId, pool: shape.pool, runtimeId: launched.runtimeId, tookMs }, 'launched');
  await pool.reportLaunched(hostId, launched);
};

/**
 * A launch that a plan requires: the host's row is written first, and then its container is launched in the background.
 */
type Intent = { config: PoolConfig; cause: string | undefined };

/** Returns the intents of a launch; none if the configuration no longer has the pool. */
const intentsOf = (
  { pools, metrics }: ExecutorParts,
  { pool, count, ahead }: Of<'launch'>,
  causes: Causes,
): Intent[] => {
  const config = pools().find((one) => one.pool === pool);
  if (config === undefined) return [];
  metrics.planned.inc({ pool, cause: 'refill' }, ahead);
  metrics.planned.inc({ pool, cause: 'demand' }, count - ahead);
  const cause = causes.get(pool);
  return Array.from({ length: count }, (_, index) => ({
    config,
    cause: index === 0 ? cause : undefined,
  }));
};

const intend = async (parts: ExecutorParts, { config, cause }: Intent): Promise<void> => {
  const { pool, driver, memory, background } = parts;
  try {
    const spec = await pool.register(config, driver, config.maximum);
    memory.breakerOf(config.pool)?.began(spec.hostId);
    background.begin(spec.hostId, 'launch', () => launchOne(parts, spec, cause));
  } catch (error) {
    // Another writer filled the pool after the view was read; the next view shows it.
    if (!isPoolFull(error)) throw error;
  }
};

/** Drains a host that cannot be adopted: a container without its network rules never gets an address. */
const giveUp = async (
  { memory, pool }: ExecutorParts,
  { hostId, state, pool: poolName }: Of<'adopt'>,
  error: unknown,
): Promise<never> => {
  if (isCode(error, 'not_found')) throw error;
  const detail = describeError(error);
  memory.breakerOf(poolName)?.failed(hostId, detail);
  await pool.drain(hostId, { reason: 'start_timeout', detail, ifState: state });
  throw error;
};

const adopt = (parts: ExecutorParts, action: Of<'adopt'>): void => {
  const { driver, pool, background, log } = parts;
  const { hostId } = action;
  background.begin(hostId, 'launch', async () => {
    const launched = await driver
      .adopt(hostId)
      .catch((error: unknown) => giveUp(parts, action, error));
    await pool.reportLaunched(hostId, launched);
    log.info({ hostId, runtimeId: launched.runtimeId }, 'adopted');
  });
};

/**
 * Reports a changed address. The host's network rules are in its own network namespace, which its container keeps
 * whatever its address.
 */
const readdress = async (
  { pool, log }: ExecutorParts,
  { hostId, address }: Of<'readdress'>,
): Promise<void> => {
  if (await pool.reportAddress(hostId, address)) {
    log.warn({ hostId, address }, 'the address of a host has changed');
  }
};

/** End reasons that the orchestrator chose: the host has no fault, so its output is not recorded. */
const chosen: ReadonlySet<HostEnd> = new Set(['surplus', 'outdated', 'max_age']);

const load = async (
  { pool, log }: ExecutorParts,
  { hostId, versionId }: Of<'load'>,
): Promise<void> => {
  if (await pool.load(hostId, versionId)) log.info({ hostId, versionId }, 'a host loads a world');
};

/** Records the failure of a host that was never warm; the breaker of its pool counts it. */
const noteFailure = (
  { memory }: ExecutorParts,
  { pool, hostId, state, reason }: Of<'drain' | 'report_gone'>,
  { detail, output }: EndAccount,
): void => {
  if (state !== 'starting' || chosen.has(reason) || reason === 'reclaimed') return;
  const line = lastLine(output || detail || '');
  memory.breakerOf(pool)?.failed(hostId, [reason, line].filter(Boolean).join(': '));
};

const drain = async (parts: ExecutorParts, action: Of<'drain'>, fresh: Fresh): Promise<void> => {
  const { hostId, reason, state } = action;
  const container = chosen.has(reason) ? undefined : (await fresh.containers()).get(hostId);
  const account = chosen.has(reason) ? {} : await accountOf(parts.driver, hostId, container);
  const drained = await parts.pool.drain(hostId, { reason, ...account, ifState: state });
  if (!drained) return;
  parts.metrics.drains.inc({ pool: action.pool, reason });
  parts.log.info({ hostId, pool: action.pool, reason, state }, 'drained');
  noteFailure(parts, action, account);
};

const reportGone = async (
  parts: ExecutorParts,
  action: Of<'report_gone'>,
  fresh: Fresh,
): Promise<void> => {
  const { hostId, state, reason } = action;
  const container = (await fresh.containers()).get(hostId);
  if (container?.phase === 'running' || container?.phase === 'pending') return;
  const account = await accountOfEnd(parts.driver, hostId, container);
  if (!(await parts.pool.reportGone(hostId, reason, account))) return;
  // A draining host has only done as requested, so it counts as no loss.
  if (state !== 'draining') parts.metrics.losses.inc({ pool: action.pool, reason });
  parts.log.info({ hostId, pool: action.pool, reason, state, ...account }, 'gone');
  noteFailure(parts, action, account);
};

const destroy = (parts: ExecutorParts, { hostId, why }: Of<'destroy'>, fresh: Fresh): void => {
  const { driver, pool, background, log } = parts;
  background.begin(hostId, 'destroy', async () => {
    if (why === 'orphan' && (await fresh.rows()).has(hostId)) return;
    // Reported while the container still exists: if the report fails, the next attempt repeats it.
    const ledger = why === 'orphan' ? undefined : await driver.end?.(hostId);
    if (ledger !== undefined) await pool.reportGone(hostId, 'exited', { ledger });
    await driver.destroy(hostId);
    log.info({ hostId, why }, 'destroyed');
  });
};

const execute = async (
  parts: ExecutorParts,
  action: Exclude<Action, { kind: 'launch' }>,
  fresh: Fresh,
): Promise<void> => {
  switch (action.kind) {
    case 'adopt':
      return adopt(parts, action);
    case 'readdress':
      return readdress(parts, action);
    case 'load':
      return load(parts, action);
    case 'drain':
      return drain(parts, action, fresh);
    case 'report_gone':
      return reportGone(parts, action, fresh);
    case 'destroy':
      return destroy(parts, action, fresh);
    default:
      return action satisfies never;
  }
};

/**
 * Runs a plan. Resolves when every request is answered and every container step has begun. A failed step does not keep
 * others from being tried; the first failure is thrown at the end.
 */
export const executePlan = async (
  parts: ExecutorParts,
  actions: readonly Action[],
  causes: Causes = new Map(),
): Promise<void> => {
  const fresh: Fresh = {
    containers: readOnce(async () => {
      const containers = await parts.driver.list();
      return new Map(containers.map((container) => [container.hostId, container]));
    }),
    rows: readOnce(async () => {
      const { hosts } = await parts.pool.observe();
      return new Set(hosts.map((host) => host.id));
    }),
  };
  const intents = actions.flatMap((action) =>
    action.kind === 'launch' ? intentsOf(parts, action, causes) : [],
  );
  const others = actions.filter((action) => action.kind !== 'launch');
  const failures: unknown[] = [];
  const attempt = async (step: Promise<void>): Promise<void> => {
    await step.catch((error: unknown) => failures.push(error));
  };
  await Promise.all([
    pMap(intents, (intent) => attempt(intend(parts, intent)), { concurrency: intentsAtOnce }),
    pMap(others, (action) => attempt(execute(parts, action, fresh)), { concurrency: stepsAtOnce }),
  ]);
  if (failures.length > 0) throw failures[0];
};

/**
 * Carries plans out. Messages to the control plane are awaited; steps of the container runtime go on in
 * the background. Each step may be repeated at will: it re-reads what it is about to take for granted,
 * leaves a host that has moved on as it is, and when it fails it is logged and planned anew.
 */
import { AppError, describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Background } from './background.ts';
import type { Breaker } from './breaker.ts';
import type { Container, Driver, Launched, LaunchSpec } from './driver/driver.ts';
import type { Action } from './plan.ts';
import type { PoolApi } from './pool.ts';
import type { PoolConfig } from './pools/pool-config.ts';

export type ExecutorParts = {
  pool: PoolApi;
  driver: Driver;
  breaker: Breaker;
  background: Background;
  log: Log;
  /** The pools as they are to be now. */
  pools(): readonly PoolConfig[];
};

type Of<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>;

/** What steps re-read before they act: fetched at most once for all steps of one plan. */
type Fresh = { containers(): Promise<Container[]>; rows(): Promise<Set<string>> };

const readOnce = <Value>(read: () => Promise<Value>): (() => Promise<Value>) => {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= read();
    return value;
  };
};

const isCode = (error: unknown, code: AppError['code']): boolean =>
  error instanceof AppError && error.code === code;

/** How the container ended, if it is known, and the last that it wrote. */
const lastWords = async (
  driver: Driver,
  hostId: string,
  container?: Container,
): Promise<string> => {
  const written = await driver
    .logs(hostId)
    .catch((error: unknown) => `its output cannot be read: ${describeError(error)}`);
  return [container?.exit?.detail, written.trim()].filter(Boolean).join('\n');
};

/** A launch that failed leaves neither a container nor a live row; the breaker paces the next one. */
const abandon = async (parts: ExecutorParts, hostId: string, err: unknown): Promise<void> => {
  const { breaker, driver, pool, log } = parts;
  const reason = describeError(err);
  log.warn({ err, hostId }, 'launch failed');
  breaker.failed(hostId, reason);
  const detail = [reason, await lastWords(driver, hostId)].filter(Boolean).join('\n');
  await driver.destroy(hostId);
  await pool.reportGone(hostId, 'exited', detail);
};

const launchOne = async (parts: ExecutorParts, spec: LaunchSpec): Promise<void> => {
  const { driver, pool, log } = parts;
  const { hostId } = spec;
  const startedAt = performance.now();
  let launched: Launched;
  try {
    launched = await driver.launch(spec);
  } catch (error) {
    return abandon(parts, hostId, error);
  }
  const tookMs = Math.round(performance.now() - startedAt);
  log.info({ hostId, runtimeId: launched.runtimeId, tookMs }, 'launched');
  await pool.reportLaunched(hostId, launched);
};

const launch = async (parts: ExecutorParts, action: Of<'launch'>): Promise<void> => {
  const { pool, driver, breaker, background } = parts;
  const config = parts.pools().find((one) => one.pool === action.pool);
  if (config === undefined) return; // it was taken out of the configuration since
  const registerOne = async (): Promise<void> => {
    const spec = await pool.register(config, driver.runtime, config.maximum);
    breaker.began(spec.hostId);
    background.begin(spec.hostId, 'launch', () => launchOne(parts, spec));
  };
  const results = await Promise.allSettled(Array.from({ length: action.count }, registerOne));
  for (const result of results) {
    // `exhausted`: another writer filled the pool since the view was read; the next view shows it.
    if (result.status === 'rejected' && !isCode(result.reason, 'exhausted')) throw result.reason;
  }
};

/** A container that cannot be fenced never gets an address, so its host has to go. */
const giveUp = async (
  { breaker, pool }: ExecutorParts,
  { hostId, state }: Of<'adopt'>,
  error: unknown,
): Promise<never> => {
  if (isCode(error, 'not_found')) throw error;
  const detail = describeError(error);
  breaker.failed(hostId, detail);
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

const lastLine = (text: string): string => text.slice(text.lastIndexOf('\n') + 1);

const drain = async (parts: ExecutorParts, action: Of<'drain'>): Promise<void> => {
  const { hostId, reason, state } = action;
  const isFailure = reason !== 'surplus' && reason !== 'outdated';
  const detail = isFailure ? await lastWords(parts.driver, hostId) : undefined;
  const drained = await parts.pool.drain(hostId, { reason, detail, ifState: state });
  if (!drained) return;
  parts.log.info({ hostId, reason, state }, 'drained');
  if (state === 'starting') parts.breaker.failed(hostId, `${reason}: ${lastLine(detail ?? '')}`);
};

const reportGone = async (
  parts: ExecutorParts,
  { hostId, state, reason }: Of<'report_gone'>,
  fresh: Fresh,
): Promise<void> => {
  const container = (await fresh.containers()).find((found) => found.hostId === hostId);
  if (container?.phase === 'running') return;
  const detail = await lastWords(parts.driver, hostId, container);
  if (!(await parts.pool.reportGone(hostId, reason, detail))) return;
  parts.log.info({ hostId, reason, state, detail }, 'gone');
  if (state === 'starting') parts.breaker.failed(hostId, `${reason}: ${lastLine(detail)}`);
};

const destroy = (parts: ExecutorParts, { hostId, why }: Of<'destroy'>, fresh: Fresh): void => {
  const { driver, background, log } = parts;
  background.begin(hostId, 'destroy', async () => {
    if (why === 'orphan' && (await fresh.rows()).has(hostId)) return;
    await driver.destroy(hostId);
    log.info({ hostId, why }, 'destroyed');
  });
};

const execute = async (parts: ExecutorParts, action: Action, fresh: Fresh): Promise<void> => {
  switch (action.kind) {
    case 'launch':
      return launch(parts, action);
    case 'adopt':
      return adopt(parts, action);
    case 'drain':
      return drain(parts, action);
    case 'report_gone':
      return reportGone(parts, action, fresh);
    case 'destroy':
      return destroy(parts, action, fresh);
    default:
      return action satisfies never;
  }
};

/**
 * Runs a plan: resolves when every message is answered and every container step has begun. Steps do
 * not wait for one another; the first that failed is thrown once all have been tried.
 */
export const executePlan = async (
  parts: ExecutorParts,
  actions: readonly Action[],
): Promise<void> => {
  const fresh: Fresh = {
    containers: readOnce(() => parts.driver.list()),
    rows: readOnce(async () => {
      const { hosts } = await parts.pool.observe();
      return new Set(hosts.map((host) => host.id));
    }),
  };
  const results = await Promise.allSettled(actions.map((action) => execute(parts, action, fresh)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

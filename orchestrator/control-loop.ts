/**
 * The loop that keeps the pool: observe, plan, execute, once a second and whenever a watcher or a step
 * that ended says so. What a tick returns is the pool's status; a change in why launches are held is
 * told to whoever started the program.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Background } from './background.ts';
import type { Breaker, BreakerStatus } from './breaker.ts';
import { type ExecutorParts, executePlan } from './execute.ts';
import type { Observe } from './observe.ts';
import { type Deadlines, type PlanSettings, plan } from './plan.ts';

const tickMs = 1_000;
const launchesAtOnce = 8;
const destroysAtOnce = 8;

/** How long a host may be in a bad way, in milliseconds. */
export const deadlines: Deadlines = {
  silentMs: 10_000,
  recycleMs: 20_000,
  intentMs: 10_000,
  surplusMs: 60_000,
  unfitMs: 2_000,
  loadingMs: 250,
};

export type PoolStatus = {
  hosts: number;
  warm: number;
  waitingSessions: number;
  underWay: number;
  launches: BreakerStatus;
};

export type ControlLoopParts = {
  observe: Observe;
  execution: ExecutorParts;
  background: Background;
  breaker: Breaker;
  log: Log;
  /** Told whenever launches begin or cease to be held back, with the reason. */
  onHold: (status: BreakerStatus) => void;
};

const tellOfHolds = (onHold: ControlLoopParts['onHold']): ((status: BreakerStatus) => void) => {
  let told: string | undefined;
  return (status) => {
    if (status.reason === told) return;
    told = status.reason;
    onHold(status);
  };
};

/** Starts the loop at once. */
export const startControlLoop = (parts: ControlLoopParts): Loop<PoolStatus> => {
  const { observe, execution, background, breaker } = parts;
  const tell = tellOfHolds(parts.onHold);
  return startLoop({
    name: 'pool',
    everyMs: tickMs,
    log: parts.log,
    tick: async (signal) => {
      const observation = await observe(signal);
      breaker.settle(observation.view.hosts);
      const settings: PlanSettings = {
        pools: execution.pools().map((config) => ({
          config,
          digest: execution.driver.digestOf(config),
          target: config.target === 'auto' ? config.minimum : config.target,
          launchAllowance: breaker.allowance(),
        })),
        launchesAtOnce,
        destroysAtOnce,
        deadlines,
      };
      await executePlan(execution, plan(observation, settings));
      tell(breaker.status());
      const { hosts, waiting } = observation.view;
      return {
        hosts: hosts.length,
        warm: hosts.filter((host) => host.state === 'warm').length,
        waitingSessions: waiting.reduce((sum, { count }) => sum + count, 0),
        underWay: background.busy.size,
        launches: breaker.status(),
      };
    },
  });
};

/**
 * The orchestrator over the models: its real planner and memory, with the steps of `execute.ts` on
 * virtual time. Actions reach the control plane some time after the view that they are based on;
 * some are lost. A crash loses everything except the models themselves.
 */

import { offerOf, type PoolConfig } from '#pools/pool-config.ts';
import { deadlines } from '../../../orchestrator/control-loop.ts';
import { createPoolMemory } from '../../../orchestrator/learned/pool-memory.ts';
import { plan } from '../../../orchestrator/plan/plan.ts';
import type { Action, Observation } from '../../../orchestrator/plan/terms.ts';
import type { Chance } from '../../support/random/chance.ts';
import type { ModelControl } from './model-control.ts';
import type { ModelRuntime } from './model-runtime.ts';
import type { VirtualTime } from './virtual-time.ts';

export type OrchestratorParts = {
  time: VirtualTime;
  chance: Chance;
  control: ModelControl;
  runtime: ModelRuntime;
  pools(): readonly PoolConfig[];
  digestOf(pool: string): string;
  /** Probability that an action is lost, and that a nudge is lost. */
  lost: () => number;
  /** Returns true if this particular action is lost. */
  isLost?(action: Action): boolean;
  atOnce: number;
  /** Limit of hosts starting at once on the single machine; `atOnce` when absent. */
  startsAtOnce?: number;
  /**
   * Time for which a host counts as starting under that limit; the process runtime's when absent.
   */
  startingMs?: number;
  /** Window in which nudges share one observation, like the pacing for many hosts. */
  nudgeMs: number;
  /** Called with each plan and the time it took, in real milliseconds. */
  onPlan(actions: readonly Action[], tookMs: number): void;
};

const tickMs = 1_000;
const retryMs = 1_000;

/** Starts one orchestrator process. `stop` is a crash: each step in flight still happens or not. */
export const startModelOrchestrator = (parts: OrchestratorParts) => {
  const { time, chance, control, runtime } = parts;
  const busy = new Map<string, 'launch' | 'destroy'>();
  const startedAt = time.now();
  const memory = createPoolMemory({
    now: () => time.now(),
    digestOf: ({ pool }) => parts.digestOf(pool),
  });
  let isStopped = false;
  let isTicking = false;
  let nextTickAt = Number.POSITIVE_INFINITY;

  const later = (leastMs: number, mostMs: number, step: () => void): void => {
    time.after(chance.between(leastMs, mostMs), () => {
      // After a crash, half of the steps in flight still reach the runtime or the control plane.
      if (!isStopped || chance.happens(0.5)) step();
    });
  };
  const settle = (hostId: string): void => {
    busy.delete(hostId);
    nudge();
  };
  const fail = (pool: string, hostId: string, reason: string): void => {
    if (!isStopped) memory.breakerOf(pool)?.failed(hostId, reason);
  };
  const launchOne = (config: PoolConfig): void => {
    const host = control.register(config.pool, offerOf(config), config.maximum);
    if (host === undefined) return;
    memory.breakerOf(config.pool)?.began(host.id);
    busy.set(host.id, 'launch');
    const isAnswerLost = chance.happens(parts.lost());
    if (isAnswerLost) {
      settle(host.id);
      return;
    }
    later(10, 200, () => {
      const isLaunched = runtime.launch(host.id, config.pool, parts.digestOf(config.pool));
      later(10, 200, () => {
        if (isLaunched) {
          if (!chance.happens(parts.lost())) control.launched(host.id);
        } else {
          fail(config.pool, host.id, 'refused');
          control.gone(host.id, 'exited');
        }
        settle(host.id);
      });
    });
  };
  const carryOut = (action: Action): void => {
    if (parts.isLost?.(action) === true || chance.happens(parts.lost())) return;
    if (action.kind === 'launch') {
      const config = parts.pools().find(({ pool }) => pool === action.pool);
      for (let nth = 0; config !== undefined && nth < action.count; nth += 1) launchOne(config);
    } else if (action.kind === 'adopt') control.launched(action.hostId);
    else if (action.kind === 'load') control.load(action.hostId, action.versionId);
    else if (action.kind === 'drain') {
      const { hostId, state, reason, pool } = action;
      const isFailure = state === 'starting' && reason !== 'reclaimed' && reason !== 'surplus';
      if (control.drain(hostId, state, reason) && isFailure) fail(pool, hostId, reason);
    } else if (action.kind === 'report_gone') {
      if (runtime.isAlive(action.hostId)) return;
      control.gone(action.hostId, action.reason);
      if (action.state === 'starting') fail(action.pool, action.hostId, action.reason);
    } else if (action.kind === 'destroy') {
      const { hostId, why } = action;
      busy.set(hostId, 'destroy');
      later(50, 500, () => {
        const isWanted = why === 'orphan' && control.hosts.has(hostId);
        if (isWanted || runtime.destroy(hostId)) settle(hostId);
        else time.after(retryMs, () => settle(hostId));
      });
    }
  };
  const tick = (): void => {
    isTicking = true;
    const observation: Observation = {
      view: control.view(runtime.silentMs),
      containers: runtime.containers(),
      busy: new Map(busy),
      steadyMs: time.now() - startedAt,
    };
    const beganAt = performance.now();
    const pools = memory.learn(observation, parts.pools());
    const { atOnce, startsAtOnce = atOnce, startingMs = deadlines.startingMs } = parts;
    const bounds = {
      launchesAtOnce: atOnce,
      startsAtOnce: () => startsAtOnce,
      destroysAtOnce: atOnce,
      deadlines: { ...deadlines, startingMs },
    };
    const actions = plan(observation, { pools, ...bounds });
    parts.onPlan(actions, performance.now() - beganAt);
    memory.noteLaunches(actions);
    // The plan is executed this long after its view was taken.
    time.after(chance.between(5, 150), () => {
      if (isStopped) return;
      for (const action of actions) carryOut(action);
      isTicking = false;
      tickIn(tickMs);
    });
  };
  const tickIn = (ms: number): void => {
    const atMs = time.now() + ms;
    if (isTicking || atMs >= nextTickAt) return;
    nextTickAt = atMs;
    time.after(ms, () => {
      if (isStopped || isTicking || nextTickAt !== atMs) return;
      nextTickAt = Number.POSITIVE_INFINITY;
      tick();
    });
  };
  const nudge = (): void => {
    if (!isStopped && !chance.happens(parts.lost())) tickIn(parts.nudgeMs);
  };
  tickIn(0);

  return {
    nudge,
    statuses: memory.statuses,
    stop(): void {
      isStopped = true;
    },
  };
};

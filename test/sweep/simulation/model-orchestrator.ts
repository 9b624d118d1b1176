/**
 * The orchestrator over the models: its real planner and memory, with the steps of `execute.ts` on
 * virtual time. Actions reach the control plane some time after the view that they are based on;
 * some are lost. A crash loses everything except the models themselves.
 */

import { offerOf, type PoolConfig } from '#pools/pool-config.ts';
import type { PoolView } from '#wire/pool-api/operations.ts';
import { deadlines } from '../../../orchestrator/control-loop.ts';
import { createPoolMemory, type PoolMemory } from '../../../orchestrator/learned/pool-memory.ts';
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
  /** Returns the part of the pool's view that this orchestrator gets; all of it when absent. */
  seen?(view: PoolView): PoolView;
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

type ActionOf<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>;

class ModelOrchestrator {
  readonly #parts: OrchestratorParts;
  readonly #memory: PoolMemory;
  readonly #busy = new Map<string, 'launch' | 'destroy'>();
  readonly #startedAt: number;
  #isStopped = false;
  #isTicking = false;
  #nextTickAt = Number.POSITIVE_INFINITY;

  constructor(parts: OrchestratorParts) {
    this.#parts = parts;
    this.#startedAt = parts.time.now();
    this.#memory = createPoolMemory({
      now: () => parts.time.now(),
      digestOf: ({ pool }) => parts.digestOf(pool),
    });
  }

  start(): void {
    this.#tickIn(0);
  }

  nudge(): void {
    if (!this.#isStopped && !this.#isLost()) this.#tickIn(this.#parts.nudgeMs);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #tickIn(ms: number): void {
    const { time } = this.#parts;
    const atMs = time.now() + ms;
    if (this.#isTicking || atMs >= this.#nextTickAt) return;
    this.#nextTickAt = atMs;
    time.after(ms, () => {
      if (this.#isStopped || this.#isTicking || this.#nextTickAt !== atMs) return;
      this.#nextTickAt = Number.POSITIVE_INFINITY;
      this.#tick();
    });
  }

  #tick(): void {
    this.#isTicking = true;
    const { time, chance } = this.#parts;
    const actions = this.#plan();
    // The plan is executed this long after its view was taken.
    time.after(chance.between(5, 150), () => {
      if (this.#isStopped) return;
      for (const action of actions) this.#carryOut(action);
      this.#isTicking = false;
      this.#tickIn(tickMs);
    });
  }

  #plan(): Action[] {
    const { pools: poolsOf, onPlan, atOnce } = this.#parts;
    const { startsAtOnce = atOnce, startingMs = 3_000 } = this.#parts;
    const observation = this.#observe();
    const beganAt = performance.now();
    const pools = this.#memory.learn(observation, poolsOf());
    const actions = plan(observation, {
      pools,
      launchesAtOnce: atOnce,
      startsAtOnce: () => startsAtOnce,
      destroysAtOnce: atOnce,
      deadlines: { ...deadlines, startingMs },
    });
    onPlan(actions, performance.now() - beganAt);
    this.#memory.noteLaunches(actions);
    return actions;
  }

  #observe(): Observation {
    const { time, control, runtime, seen = (view) => view } = this.#parts;
    return {
      view: seen(control.view(runtime.silentMs)),
      containers: runtime.containers(),
      busy: new Map(this.#busy),
      steadyMs: time.now() - this.#startedAt,
    };
  }

  #carryOut(action: Action): void {
    const { control, isLost } = this.#parts;
    if (isLost?.(action) === true || this.#isLost()) return;
    if (action.kind === 'launch') this.#launch(action);
    else if (action.kind === 'adopt') control.launched(action.hostId);
    else if (action.kind === 'load') control.load(action.hostId, action.versionId);
    else if (action.kind === 'drain') this.#drain(action);
    else if (action.kind === 'report_gone') this.#reportGone(action);
    else if (action.kind === 'destroy') this.#destroy(action);
  }

  #launch({ pool: name, count }: ActionOf<'launch'>): void {
    const config = this.#parts.pools().find(({ pool }) => pool === name);
    for (let nth = 0; config !== undefined && nth < count; nth += 1) this.#launchOne(config);
  }

  #launchOne(config: PoolConfig): void {
    const { control, runtime, digestOf } = this.#parts;
    const host = control.register(config.pool, offerOf(config), config.maximum);
    if (host === undefined) return;
    this.#memory.breakerOf(config.pool)?.began(host.id);
    this.#busy.set(host.id, 'launch');
    const isAnswerLost = this.#isLost();
    if (isAnswerLost) {
      this.#settle(host.id);
      return;
    }
    this.#later(10, 200, () => {
      const isLaunched = runtime.launch(host.id, config.pool, digestOf(config.pool));
      this.#later(10, 200, () => this.#reportLaunch(config.pool, host.id, isLaunched));
    });
  }

  #reportLaunch(pool: string, hostId: string, isLaunched: boolean): void {
    const { control } = this.#parts;
    if (isLaunched) {
      if (!this.#isLost()) control.launched(hostId);
    } else {
      this.#noteFailure(pool, hostId, 'refused');
      control.gone(hostId, 'exited');
    }
    this.#settle(hostId);
  }

  #drain({ hostId, state, reason, pool }: ActionOf<'drain'>): void {
    const isFailure = state === 'starting' && reason !== 'reclaimed' && reason !== 'surplus';
    const isDrained = this.#parts.control.drain(hostId, state, reason);
    if (isDrained && isFailure) this.#noteFailure(pool, hostId, reason);
  }

  #reportGone({ hostId, state, reason, pool }: ActionOf<'report_gone'>): void {
    const { control, runtime } = this.#parts;
    if (runtime.isAlive(hostId)) return;
    control.gone(hostId, reason);
    if (state === 'starting') this.#noteFailure(pool, hostId, reason);
  }

  #destroy({ hostId, why }: ActionOf<'destroy'>): void {
    const { time, control, runtime } = this.#parts;
    this.#busy.set(hostId, 'destroy');
    this.#later(50, 500, () => {
      const isWanted = why === 'orphan' && control.hosts.has(hostId);
      if (isWanted || runtime.destroy(hostId)) this.#settle(hostId);
      else time.after(retryMs, () => this.#settle(hostId));
    });
  }

  #settle(hostId: string): void {
    this.#busy.delete(hostId);
    this.nudge();
  }

  #noteFailure(pool: string, hostId: string, reason: string): void {
    if (!this.#isStopped) this.#memory.breakerOf(pool)?.failed(hostId, reason);
  }

  #isLost(): boolean {
    const { chance, lost } = this.#parts;
    return chance.happens(lost());
  }

  #later(leastMs: number, mostMs: number, step: () => void): void {
    const { time, chance } = this.#parts;
    time.after(chance.between(leastMs, mostMs), () => {
      // After a crash, half of the steps in flight still reach the runtime or the control plane.
      if (!this.#isStopped || chance.happens(0.5)) step();
    });
  }
}

/** Starts one orchestrator process. `stop` is a crash: each step in flight still happens or not. */
export const startModelOrchestrator = (
  parts: OrchestratorParts,
): Pick<ModelOrchestrator, 'nudge' | 'stop'> => {
  const orchestrator = new ModelOrchestrator(parts);
  orchestrator.start();
  return orchestrator;
};

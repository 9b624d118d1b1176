/**
 * Connects the models of a control plane and of the runtimes of its installations like the real
 * ones: hosts report when they are warm, and changes nudge the orchestrators.
 */
import type { Chance } from '../../support/random/chance.ts';
import { type ControlHooks, ModelControl } from './model-control.ts';
import { createModelRuntime, type Faults, type ModelRuntime } from './model-runtime.ts';
import type { VirtualTime } from './virtual-time.ts';

export type ConnectParts = Pick<ControlHooks, 'onAssigned' | 'onRecycling'> & {
  time: VirtualTime;
  chance: Chance;
  /** Fault rates, one entry for each runtime. */
  faults: readonly (() => Faults)[];
  /** Nudges the orchestrators to observe the pool. */
  nudge(): void;
};

/** Creates empty models; `runtimes` are in the order of `faults`. */
export const connectModels = ({ time, chance, faults, nudge, ...hooks }: ConnectParts) => {
  const addRuntime = (faultsOf: () => Faults): ModelRuntime => {
    const runtime: ModelRuntime = createModelRuntime({
      now: time,
      chance,
      faults: faultsOf,
      onWarm: (hostId) => {
        const host = control.hosts.get(hostId);
        if (host !== undefined && runtime.isWell(hostId)) control.warm(host);
      },
      onNotice: nudge,
    });
    return runtime;
  };
  const runtimes = faults.map(addRuntime);
  const control = new ModelControl(time, {
    ...hooks,
    onChange: nudge,
    isAlive: (hostId) => runtimes.some((runtime) => runtime.isAlive(hostId)),
  });
  return { control, runtimes };
};

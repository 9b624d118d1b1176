/**
 * A control plane and the runtimes of its installations, as models that tell each other what real ones
 * do: hosts say when they are warm, and what changes nudges the orchestrators.
 */
import type { Chance } from '../support/chance.ts';
import { type ControlHooks, createModelControl } from './model-control.ts';
import { createModelRuntime, type Faults, type ModelRuntime } from './model-runtime.ts';
import type { VirtualTime } from './virtual-time.ts';

export type ConnectParts = Pick<ControlHooks, 'onAssigned' | 'onRecycling'> & {
  time: VirtualTime;
  chance: Chance;
  /** How often things go wrong, one entry for each runtime. */
  faults: readonly (() => Faults)[];
  /** Tells the orchestrators to look. */
  nudge(): void;
};

/** The models with nothing in them; `runtimes` are in the order of their faults. */
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
  const control = createModelControl(time, {
    ...hooks,
    onChange: nudge,
    isAlive: (hostId) => runtimes.some((runtime) => runtime.isAlive(hostId)),
  });
  return { control, runtimes };
};

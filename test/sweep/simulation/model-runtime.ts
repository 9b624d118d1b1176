/**
 * Model of a container runtime with the hosts in its containers. Hosts start late, fail, end, fall
 * silent and are reclaimed at the configured fault rates. Containers change only by the
 * orchestrator's actions and by chance; nothing here decides.
 */
import type { Container } from '../../../orchestrator/driver/driver.ts';
import type { Chance } from '../../support/random/chance.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Fault rates: probabilities, and means in milliseconds. */
export type Faults = {
  launchFails: number;
  /** Probability of a slow launch, which takes one to three times `slowMs` longer. */
  slowStart: number;
  slowMs: number;
  /** Probabilities that a host ends, or never reports, before it is warm. */
  diesStarting: number;
  hangsStarting: number;
  /** Probability that the image of a container can never be pulled. */
  badImage: number;
  /** Mean times between ends, silences and reclaims of one serving host. */
  meanMsToDeath: number;
  meanMsToSilence: number;
  meanMsToReclaim: number;
  destroyFails: number;
  recycleHangs: number;
};

export const noFaults: Faults = {
  launchFails: 0,
  slowStart: 0,
  slowMs: 0,
  diesStarting: 0,
  hangsStarting: 0,
  badImage: 0,
  meanMsToDeath: Number.POSITIVE_INFINITY,
  meanMsToSilence: Number.POSITIVE_INFINITY,
  meanMsToReclaim: Number.POSITIVE_INFINITY,
  destroyFails: 0,
  recycleHangs: 0,
};

export type RuntimeHooks = {
  now: VirtualTime;
  chance: Chance;
  faults: () => Faults;
  /** Called when a host in its container reports that it is warm. */
  onWarm(hostId: string): void;
  /** Called on events that a driver would notify of. */
  onNotice(): void;
};

type Inside = { container: Container; pool: string; silentSince: number | undefined };

export type ModelRuntime = ReturnType<typeof createModelRuntime>;

const lives = ({ container: { phase } }: Inside): boolean =>
  phase === 'running' || phase === 'pending';

/** Creates a runtime without containers. */
export const createModelRuntime = ({ now: time, chance, faults, ...hooks }: RuntimeHooks) => {
  const inside = new Map<string, Inside>();
  const living = new Map<string, number>();

  const change = (one: Inside, phase: Container['phase']): void => {
    const before = lives(one);
    one.container = { ...one.container, phase };
    const difference = Number(lives(one)) - Number(before);
    living.set(one.pool, (living.get(one.pool) ?? 0) + difference);
  };
  const end = (hostId: string): void => {
    const one = inside.get(hostId);
    if (one === undefined || !lives(one)) return;
    change(one, 'exited');
    one.container = { ...one.container, exit: { reason: 'exited', detail: 'exit status 1' } };
    hooks.onNotice();
  };
  const fallSilent = (hostId: string): void => {
    const one = inside.get(hostId);
    if (one !== undefined) one.silentSince ??= time.now();
  };
  const reclaim = (hostId: string): void => {
    const one = inside.get(hostId);
    if (one === undefined || !lives(one)) return;
    one.container = { ...one.container, reclaimed: { why: 'its node is drained', forMs: 60_000 } };
    hooks.onNotice();
    time.after(30_000, () => end(hostId));
  };
  /** Schedules the life of a host whose container now runs. */
  const begin = (hostId: string): void => {
    const { diesStarting, hangsStarting, meanMsToDeath, meanMsToSilence, meanMsToReclaim } =
      faults();
    if (chance.happens(diesStarting)) {
      time.after(chance.between(10, 2_000), () => end(hostId));
      return;
    }
    if (chance.happens(hangsStarting)) return;
    time.after(chance.between(200, 600), () => hooks.onWarm(hostId));
    time.after(chance.around(meanMsToDeath), () => end(hostId));
    time.after(chance.around(meanMsToSilence), () => fallSilent(hostId));
    time.after(chance.around(meanMsToReclaim), () => reclaim(hostId));
  };

  return {
    containers: (): Container[] => Array.from(inside.values(), ({ container }) => container),
    find: (hostId: string): Container | undefined => inside.get(hostId)?.container,
    livingIn: (pool: string): number => living.get(pool) ?? 0,
    isAlive(hostId: string): boolean {
      const one = inside.get(hostId);
      return one !== undefined && lives(one);
    },
    /** Returns true if the host runs and is not silent. */
    isWell(hostId: string): boolean {
      const one = inside.get(hostId);
      return one?.container.phase === 'running' && one.silentSince === undefined;
    },
    silentMs(hostId: string): number {
      const since = inside.get(hostId)?.silentSince;
      return since === undefined ? 0 : time.now() - since;
    },
    /** Creates a container that starts running later; returns false if the launch is refused. */
    launch(hostId: string, pool: string, digest: string): boolean {
      const { launchFails, slowStart, slowMs, badImage } = faults();
      if (chance.happens(launchFails)) return false;
      const container: Container = { hostId, phase: 'created', digest };
      const one: Inside = { container, pool, silentSince: undefined };
      inside.set(hostId, one);
      change(one, 'pending');
      if (chance.happens(badImage)) {
        const trouble = { kind: 'image', message: 'no such image' } as const;
        one.container = { ...one.container, trouble };
        return true;
      }
      const slow = chance.happens(slowStart) ? chance.between(slowMs, 3 * slowMs) : 0;
      time.after(chance.between(100, 800) + slow, () => {
        if (inside.get(hostId) !== one || !lives(one)) return;
        change(one, 'running');
        hooks.onNotice();
        begin(hostId);
      });
      return true;
    },
    /** Removes a container; returns false if this attempt failed. */
    destroy(hostId: string): boolean {
      if (chance.happens(faults().destroyFails)) return false;
      const one = inside.get(hostId);
      if (one !== undefined && lives(one)) change(one, 'exited');
      inside.delete(hostId);
      return true;
    },
  };
};

/**
 * The lease of an installation as the control plane gives it. Each time that it is given has an epoch; what
 * an orchestrator says while it leads names that, and is refused once another has been given the lease.
 */
import type { Client } from '#wire/client.ts';
import { acquireLease, type Lease } from '#wire/pool-api/operations.ts';
import { ask } from './ask.ts';

/** A request that takes longer is no use: the lease would run out under it. */
const answerMs = 2_000;

/** What is held; a control plane of the release before this one tells no epoch, and checks none. */
export type HeldLease = Omit<Lease, 'epoch'> & { epoch: number | undefined };

export type LeaseApi = {
  /**
   * Takes the lease for so many milliseconds; undefined when another has it. With `takeOver`, one that a
   * namesake has is taken from it, as by a program that was started again.
   */
  take(ttlMs: number, takeOver: boolean): Promise<HeldLease | undefined>;
  /** Keeps it for so many milliseconds more; false when another was given it. */
  renew(lease: HeldLease, ttlMs: number): Promise<boolean>;
  giveUp(lease: HeldLease): Promise<void>;
};

const epochOf = ({ epoch }: HeldLease) => (epoch === undefined ? {} : { epoch });

/** The lease of one installation; `holder` names this orchestrator in it. */
export const createLeaseApi = (client: Client, installation: string, holder: string): LeaseApi => {
  const acquire = async (ttlMs: number, which: { epoch?: number; takeOver?: boolean }) => {
    const body = { installation, holder, ttlMs, ...which };
    return (await ask(client, acquireLease, { body }, answerMs)).body;
  };
  return {
    async take(ttlMs, takeOver) {
      const { held, epoch } = await acquire(ttlMs, { takeOver });
      return held ? { installation, holder, epoch } : undefined;
    },
    renew: async (lease, ttlMs) => (await acquire(ttlMs, epochOf(lease))).held,
    async giveUp(lease) {
      await acquire(0, epochOf(lease));
    },
  };
};

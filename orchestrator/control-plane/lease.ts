/**
 * Client for the lease of an installation. Each time that the control plane grants the lease, it has a new epoch. A
 * leading orchestrator's messages carry the epoch, and the control plane refuses them once another orchestrator has
 * the lease.
 */
import type { Client } from '#wire/client.ts';
import { acquireLease, type Lease } from '#wire/pool-api/operations.ts';
import { ask } from './ask.ts';

/** Deadline of a lease request, in milliseconds. If a request took longer, the lease could expire before the answer. */
const answerMs = 2_000;

/** A lease that this orchestrator holds. A control plane of the previous release sends no epoch and checks none. */
export type HeldLease = Omit<Lease, 'epoch'> & { epoch: number | undefined };

export type LeaseApi = {
  /**
   * Acquires the lease for this many milliseconds; returns undefined when another orchestrator holds it. With
   * `takeOver`, it takes the lease from a holder of the same name, as a restarted program does.
   */
  take(ttlMs: number, takeOver: boolean): Promise<HeldLease | undefined>;
  /** Renews the lease for this many milliseconds; returns false when another orchestrator has it. */
  renew(lease: HeldLease, ttlMs: number): Promise<boolean>;
  giveUp(lease: HeldLease): Promise<void>;
};

const epochOf = ({ epoch }: HeldLease) => (epoch === undefined ? {} : { epoch });

/** Creates the client for the lease of one installation; `holder` names this orchestrator in it. */
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

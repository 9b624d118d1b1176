/** Tests the lease requests that an orchestrator sends to this release of the control plane and to the previous one. */
import { describe, expect, it } from 'vitest';
import type { Client } from '#wire/client.ts';
import { createLeaseApi, type HeldLease } from './lease.ts';
import { createPoolApi } from './pool.ts';

/** Creates a control plane that answers lease requests with this; `bodies` records the requests it received. */
const createControl = (answer: { held: boolean; epoch?: number }) => {
  const bodies: Record<string, unknown>[] = [];
  const send = async ({ id }: { id: string }, { body }: { body: Record<string, unknown> }) => {
    bodies.push(body);
    return { status: 200, body: id === 'acquireLease' ? answer : { ended: [] } };
  };
  const client: Client = { baseUrl: 'memory:', send: send as unknown as Client['send'] };
  return { client, bodies, leases: createLeaseApi(client, 'here', 'a') };
};

const limits = { idleMs: 1, maxAgeMs: 1, provisionMs: 1, closingMs: 1 };
const own = { installation: 'here', holder: 'a' };

const reapUnder = (client: Client, lease: HeldLease | undefined) => {
  if (lease === undefined) throw new Error('the lease was not given');
  return createPoolApi(client, lease, () => undefined).reap(limits);
};

describe('a lease', () => {
  it('is renewed, identified and released by its epoch', async () => {
    const { client, bodies, leases } = createControl({ held: true, epoch: 7 });
    const lease = await leases.take(6_000, true);
    expect(lease).toEqual({ ...own, epoch: 7 });
    await leases.renew(lease as HeldLease, 6_000);
    await reapUnder(client, lease);
    await leases.giveUp(lease as HeldLease);
    expect(bodies).toEqual([
      { ...own, ttlMs: 6_000, takeOver: true },
      { ...own, ttlMs: 6_000, epoch: 7 },
      { ...limits, lease: { ...own, epoch: 7 } },
      { ...own, ttlMs: 0, epoch: 7 },
    ]);
  });

  it('from a control plane without epochs is held, and is sent without an epoch', async () => {
    const { client, bodies, leases } = createControl({ held: true });
    const lease = await leases.take(6_000, false);
    expect(await leases.renew(lease as HeldLease, 6_000)).toBe(true);
    await reapUnder(client, lease);
    expect(bodies.slice(1)).toEqual([{ ...own, ttlMs: 6_000 }, limits]);
  });

  it('that another orchestrator holds is not granted', async () => {
    const { leases } = createControl({ held: false });
    expect(await leases.take(6_000, true)).toBeUndefined();
  });
});

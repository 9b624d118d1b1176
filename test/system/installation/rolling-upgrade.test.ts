/**
 * Tests a rolling upgrade of the control plane and the orchestrator, replica by replica, under load, on real processes
 * behind a balancer. With SIGTERM and with SIGKILL, no open, call or close fails, each call runs once, no session ends
 * except by its owner, and its ledger has every call.
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { retrying } from '#wire/retry.ts';
import { createNotes } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Balancer, noticeMs, startBalancer } from '../../support/programs/balancer.ts';
import { startLoad } from '../../support/programs/load.ts';
import { addressOf, type Network, startNetwork } from '../../support/programs/network.ts';
import { killNaming } from '../../support/programs/processes.ts';
import type { Program } from '../../support/programs/program.ts';

const clients = 4;
const poolSize = 4;
/**
 * Time for which a replica drains before it ends, in milliseconds: longer than several health checks of the balancer,
 * including one that waits a second for its answer.
 */
const drainMs = 30 * noticeMs;
const retryForMs = 30_000;

let database: TestDatabase;
let balancer: Balancer;
let network: Network;
let controls: Program[];
let orchestrators: Program[];
let releases: number;

beforeEach(async () => {
  database = await testDatabase();
  balancer = await startBalancer();
  network = await startNetwork({
    databaseUrl: database.url,
    balancer,
    poolSize,
    onStop: 'leave',
    env: { SVC_DRAIN_MS: String(drainMs) },
  });
  controls = [network.control, await network.startControl()];
  orchestrators = [network.orchestrator, await network.startOrchestrator('second')];
  releases = 0;
  await createNotes(network.client);
  await network.warm(poolSize);
});

afterEach(async () => {
  await Promise.all(orchestrators.map((orchestrator) => orchestrator.end('SIGTERM')));
  killNaming(network.installation);
  await rm(join(tmpdir(), `svc-${network.installation}`), { recursive: true, force: true });
  await Promise.all(controls.map((control) => control.end('SIGTERM')));
  await network.stop();
  await balancer.stop();
  await database.drop();
});

type Signal = 'SIGTERM' | 'SIGKILL';

/** Starts a new replica, then ends the old one. */
const rollControl = async (old: Program, signal: Signal): Promise<Program> => {
  const successor = await network.startControl();
  const status = await old.end(signal);
  balancer.remove(addressOf(old));
  expect(status, old.log()).toBe(signal === 'SIGTERM' ? 0 : null);
  return successor;
};

const rollOrchestrator = async (old: Program, signal: Signal): Promise<Program> => {
  releases += 1;
  const successor = await network.startOrchestrator(`release-${releases}`);
  const status = await old.end(signal);
  expect(status, old.log()).toBe(signal === 'SIGTERM' ? 0 : null);
  return successor;
};

/** Replaces the replicas of each program one after the other, and both programs in parallel. */
const rollAll = async (signal: Signal): Promise<void> => {
  const rollEach = async (programs: Program[], roll: typeof rollControl): Promise<void> => {
    for (const [place, program] of programs.entries()) {
      programs[place] = await roll(program, signal);
    }
  };
  await Promise.all([rollEach(controls, rollControl), rollEach(orchestrators, rollOrchestrator)]);
};

/** Applies a schema change of a newer release while an older one is running. */
const addColumns = async (): Promise<void> => {
  for (const table of ['sessions', 'hosts', 'calls', 'requests', 'worlds', 'versions']) {
    await network.sql(`alter table ${table} add column of_next_release integer`);
  }
};

const expectWhole = async (lived: number): Promise<void> => {
  const ends = await network.sql<{ state: string; end_reason: string; count: number }>(
    'select state, end_reason, count(*)::int from sessions group by state, end_reason',
  );
  expect(ends).toEqual([{ state: 'CLOSED', end_reason: 'requested', count: lived }]);
  const calls = await network.sql<{ state: string }>(
    `select distinct state from calls where state <> 'succeeded'`,
  );
  expect(calls).toEqual([]);
};

describe('a service under load', { timeout: 600_000 }, () => {
  it('rolls every replica twice without a failure, even for clients that never retry', async () => {
    const load = startLoad({ client: network.client, clients });
    await load.beyond(clients);
    await rollAll('SIGTERM');
    await addColumns();
    await rollAll('SIGTERM');
    await load.beyond(clients);
    const { lived, failures } = await load.stop();
    expect(failures).toEqual([]);
    expect(balancer.refused()).toBe(0);
    await expectWhole(lived);
  });

  it('loses no acknowledged request when replicas are killed', async () => {
    const client = retrying(network.client, { forMs: retryForMs });
    const load = startLoad({ client, clients });
    await load.beyond(clients);
    await rollAll('SIGKILL');
    await load.beyond(clients);
    const { lived, failures } = await load.stop();
    expect(failures).toEqual([]);
    await expectWhole(lived);
  });

  it('gets a new leader when an orchestrator stops, before its lease expires', async () => {
    const [leader] = orchestrators as [Program];
    const holder = async () =>
      (await network.sql<{ holder: string }>('select holder from leases'))[0]?.holder;
    expect(await holder()).toBe('test');
    await leader.end('SIGTERM');
    await until(async () => (await holder()) === 'second', {
      timeoutMs: 3_000, // Half a lease.
      what: 'the second one leading',
    });
  });
});

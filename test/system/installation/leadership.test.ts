/**
 * Tests leader election of orchestrators on real processes: a leader that is paused and resumes after another one took
 * the lease, and two orchestrators of one name. The loser of the lease stops and changes nothing.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { processesNaming } from '../../support/programs/processes.ts';
import type { Program } from '../../support/programs/program.ts';

const timeoutMs = 20_000;
const deposed = 'another orchestrator has taken the lease';
/**
 * Message of a leader that was paused during a renewal: the answer is lost, and the lease has
 * expired.
 */
const ranOut = 'the lease expired before it was renewed';
let database: TestDatabase;
let network: Network;
let second: Program | undefined;

beforeEach(async () => {
  database = await testDatabase();
  network = await startNetwork({ databaseUrl: database.url, poolSize: 2 });
  await network.warm(2);
});

afterEach(async () => {
  process.kill(network.orchestrator.pid, 'SIGCONT');
  await network.orchestrator.end('SIGTERM');
  await second?.end('SIGTERM');
  await network.stop();
  expect(processesNaming(network.installation)).toEqual([]);
  await database.drop();
});

type LeaseRow = { holder: string; epoch: number };

const readLease = async (): Promise<LeaseRow | undefined> =>
  (await network.sql<LeaseRow>('select holder, epoch::int from leases'))[0];

const saysOne = (program: Program, texts: readonly string[]) =>
  until(() => texts.some((text) => program.log().includes(text)), {
    timeoutMs,
    what: `"${texts.join('" or "')}" in the log`,
  });

const says = (program: Program, text: string) => saysOne(program, [text]);

const idsOf = async (): Promise<string[]> => (await network.hosts()).map(({ id }) => id);

describe('an orchestrator', () => {
  it('that was paused stops when it resumes after another took the lease, and the other keeps all hosts', async () => {
    const before = await idsOf();
    process.kill(network.orchestrator.pid, 'SIGSTOP');
    second = await network.startOrchestrator('second');
    await until(async () => (await readLease())?.holder === 'second', {
      timeoutMs,
      what: 'the second one leading',
    });
    process.kill(network.orchestrator.pid, 'SIGCONT');
    await saysOne(network.orchestrator, [deposed, ranOut]);
    expect((await readLease())?.holder).toBe('second');
    for (const end of [deposed, ranOut]) expect(second.log()).not.toContain(end);
    expect(await idsOf()).toEqual(before);
  });

  it('yields to a later orchestrator of the same name, and leads again when that one has ended', async () => {
    const epochs = [(await readLease())?.epoch ?? 0];
    second = await network.startOrchestrator('test');
    expect(second.said).toEqual({ leading: true });
    await says(network.orchestrator, deposed);
    epochs.push((await readLease())?.epoch ?? 0);
    await second.end('SIGKILL');
    await until(async () => ((await readLease())?.epoch ?? 0) > (epochs[1] ?? 0), {
      timeoutMs,
      what: 'the elder leading again',
    });
    expect(epochs[1]).toBeGreaterThan(epochs[0] ?? 0);
    expect(second.log()).not.toContain(deposed);
    await network.warm(2);
  });
});

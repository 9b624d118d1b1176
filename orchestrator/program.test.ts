/**
 * Tests the orchestrator's loops together, over a pool API and a runtime in memory: the final state of the pool and
 * the machine, whatever happened on the way.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { createLog } from '#runtime/log.ts';
import { createLoopBoard, type LoopBoard } from '#runtime/loop-board.ts';
import { until } from '#runtime/pause.ts';
import type { Running } from '#runtime/run.ts';
import { startTracer } from '#runtime/tracing.ts';
import { createMachine, createMemoryDriver } from '#test/support/orchestrator/memory-driver.ts';
import { MemoryPool } from '#test/support/orchestrator/memory-pool.ts';
import { testPool } from '#test/support/orchestrator/pools.ts';
import { type Config, readConfig } from './config.ts';
import { type OrchestratorParts, startOrchestrator } from './program.ts';
import { createMetrics, type Metrics } from './signals/metrics.ts';

const installation = 'test';
type StartOptions = Partial<Config> & { poolSize?: number; poolMax?: number };

let pool: MemoryPool;
let machine: ReturnType<typeof createMachine>;
let said: Parameters<OrchestratorParts['say']>[0][];
let running: Running[];
let metrics: Metrics;
let board: LoopBoard;

const start = (options: StartOptions = {}): Running => {
  const { poolSize = 2, poolMax = 64, ...changes } = options;
  const env = {
    SVC_CONTROL_URL: 'http://127.0.0.1:1',
    SVC_HOST_CONTROL_URL: 'http://127.0.0.1:1',
    SVC_POOL_TOKEN: 'secret',
    SVC_INSTALLATION: installation,
    SVC_RUNTIME: 'process',
  };
  const config = { ...readConfig(env, 'a'), ...changes };
  const pools = [testPool({ target: poolSize, minimum: poolSize, maximum: poolMax })];
  const orchestrator = startOrchestrator({
    config,
    settings: () => ({ ...config.settings, pools }),
    client: pool.client,
    driver: createMemoryDriver(machine),
    metrics,
    tracer: startTracer('test', null, createLog('test', 'silent')),
    board,
    log: createLog('orchestrator', 'silent'),
    say: (line) => said.push(line),
  });
  running.push(orchestrator);
  return orchestrator;
};

/** Makes a host warm as soon as its container runs, as real hosts do. */
const warmAfterLaunch = (hostId: string): void => {
  setImmediate(() => pool.host(hostId).state === 'starting' && pool.move(hostId, 'warm'));
};

const warm = () => pool.live().filter((host) => host.state === 'warm');
const eventually = (what: string, probe: () => boolean) =>
  until(probe, { timeoutMs: 30_000, what });

beforeEach(() => {
  pool = new MemoryPool();
  machine = createMachine();
  machine.onLaunch = warmAfterLaunch;
  said = [];
  running = [];
  metrics = createMetrics();
  board = createLoopBoard();
});

afterEach(async () => {
  await Promise.all(running.map((orchestrator) => orchestrator.stop()));
});

describe('the metrics of an orchestrator', () => {
  it('show the pool by states, launches and ends, and the loops, for as long as it leads', async () => {
    const orchestrator = start({ poolSize: 2 });
    const shown = (line: string) =>
      until(async () => (await metrics.registry.metrics()).split('\n').includes(line), {
        timeoutMs: 30_000,
        what: line,
      });
    await shown('svc_hosts{pool="default",state="warm"} 2');
    machine.kill(pool.live()[0]?.id ?? '');
    await shown('svc_host_losses_total{pool="default",reason="exited"} 1');
    await shown('svc_host_launches_total{pool="default",outcome="launched"} 3');
    const text = await metrics.registry.metrics();
    expect(text).toContain('svc_host_launches_planned_total{pool="default",cause="refill"} 3');
    expect(text).toContain('svc_pool_target{pool="default"} 2');
    expect(text).toContain('svc_orchestrator_leading 1');
    expect(text).toContain('svc_pool_fresh{pool="default"} 2');
    const ending = pool.live()[0];
    if (ending !== undefined) ending.state = 'draining';
    machine.kill(ending?.id ?? '');
    await shown('svc_host_launches_total{pool="default",outcome="launched"} 4');
    await until(() => ending?.state === 'gone', { timeoutMs: 30_000, what: 'its end' });
    await shown('svc_host_losses_total{pool="default",reason="exited"} 1');
    const names = board.statuses().map(({ name }) => name);
    expect(names).toEqual(['lease', 'pools', 'watch-pool', 'publish', 'reap']);
    await orchestrator.stop();
    expect(await metrics.registry.metrics()).toContain('svc_orchestrator_leading 0');
    expect(board.statuses()).toEqual([]);
  });
});

describe('a pool', () => {
  it('is filled to its target, and refilled when a host is assigned or dies', async () => {
    start({ poolSize: 2 });
    await eventually('2 warm', () => warm().length === 2);
    const [first, second] = pool.live();
    pool.move(first?.id ?? '', 'assigned');
    await eventually('2 warm again', () => warm().length === 2);
    machine.kill(second?.id ?? '');
    await eventually('the dead one gone', () => pool.host(second?.id ?? '').state === 'gone');
    await eventually('2 warm once more', () => warm().length === 2);
    expect(pool.host(second?.id ?? '')).toMatchObject({
      end: 'exited',
      detail: expect.stringContaining('exit status 3'),
    });
    await eventually('nothing left of it', () => !machine.containers.has(second?.id ?? ''));
    expect(pool.reaps()).toBeGreaterThan(0);
  });

  it('serves a burst of demand without going over its maximum', async () => {
    start({ poolSize: 1, poolMax: 6 });
    await eventually('1 warm', () => warm().length === 1);
    pool.setWaiting(50);
    await eventually('6 hosts', () => pool.live().length === 6);
    await eventually('6 warm', () => warm().length === 6);
    expect(pool.hosts()).toHaveLength(6);
    expect(machine.launches).toBe(6);
  });

  it('registers a few hosts at a time, so that opens have connections left', async () => {
    const { client } = pool;
    let atOnce = 0;
    let mostAtOnce = 0;
    const send = async (shape: { id: string }, input: never) => {
      if (shape.id !== 'registerHost') return client.send(shape as never, input);
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      return client.send(shape as never, input);
    };
    pool.client = { ...client, send: send as unknown as typeof client.send };
    start({ poolSize: 30 });
    await eventually('30 warm', () => warm().length === 30);
    expect(mostAtOnce).toBe(4);
  });

  it('destroys drained hosts, and replaces them', async () => {
    start({ poolSize: 1, poolMax: 1 });
    await eventually('1 warm', () => warm().length === 1);
    const [host] = pool.live();
    pool.move(host?.id ?? '', 'draining');
    await eventually('another', () => warm().length === 1 && warm()[0]?.id !== host?.id);
    expect([...machine.containers.keys()]).toEqual(warm().map(({ id }) => id));
  });

  it('reports the address of a host whenever it changes', async () => {
    start({ poolSize: 1 });
    await eventually('1 warm', () => warm().length === 1);
    const id = warm()[0]?.id ?? '';
    const address = () => pool.host(id).address;
    for (const elsewhere of ['http://127.0.0.1:2', null, 'http://127.0.0.1:3']) {
      machine.move(id, elsewhere);
      await eventually(`at ${elsewhere}`, () => address() === (elsewhere ?? undefined));
    }
    expect(warm().map((host) => host.id)).toEqual([id]);
    expect(machine.launches).toBe(1);
  });

  it('survives a control plane that is away for a while', async () => {
    start({ poolSize: 1 });
    await eventually('1 warm', () => warm().length === 1);
    const failing = () => board.statuses().filter(({ failuresInARow }) => failuresInARow > 0);
    pool.setDown(true);
    machine.kill(warm()[0]?.id ?? '');
    await eventually('noticed', () => failing().some(({ name }) => name === 'pools'));
    expect(pool.hosts()).toHaveLength(1);
    pool.setDown(false);
    await eventually('healed', () => warm().length === 1 && pool.hosts().length === 2);
  });
});

describe('an intent that is refused', () => {
  const refuseIntents = (detail: Record<string, unknown>) =>
    pool.refuseIntents(new AppError('exhausted', 'there is too much', { detail }));
  const planning = () => board.statuses().find(({ name }) => name === 'pools');

  it('is not reported if the pool is full because another orchestrator filled it', async () => {
    refuseIntents({ full: 'pool' });
    start({ poolSize: 1 });
    await eventually('tried again', () => (planning()?.ticks ?? 0) > 2);
    expect(planning()).toMatchObject({ failures: 0, lastError: undefined });
  });

  it('is reported as a failure and retried if the reason is not a full pool', async () => {
    refuseIntents({});
    start({ poolSize: 1 });
    await eventually('failures', () => (planning()?.failures ?? 0) > 1);
    expect(planning()?.lastError).toContain('there is too much');
    pool.refuseIntents(undefined);
    await eventually('1 warm', () => warm().length === 1);
  });
});

describe('launches that fail', () => {
  it('hold back further launches, with the reason published, and leave nothing behind', async () => {
    machine.onLaunch = () => {
      throw new AppError('unavailable', 'no space left on device');
    };
    start({ poolSize: 1 });
    await eventually('a report', () => said.some((line) => 'launches' in line));
    expect(said.find((line) => 'launches' in line)).toMatchObject({
      launches: { reason: 'no space left on device: last line of hst-1' },
    });
    await eventually('another try', () => machine.launches >= 2);
    await eventually('published', () =>
      pool.published().some(({ held }) => held?.includes('no space left on device') === true),
    );
    await eventually('no live row', () => pool.live().length === 0);
    expect(machine.containers.size).toBe(0);
    expect(pool.hosts()[0]).toMatchObject({
      end: 'exited',
      detail: expect.stringContaining('no space left on device'),
    });
    machine.onLaunch = warmAfterLaunch;
    await eventually('healed', () => warm().length === 1);
    await eventually('a report of the recovery', () => {
      const last = said.at(-1);
      return last !== undefined && 'launches' in last && last.launches.failuresInARow === 0;
    });
    await eventually('published again', () => pool.published().every(({ held }) => held === null));
  });
});

describe('a successor', () => {
  it('adopts running hosts and completes a launch that was cut off', async () => {
    const first = start({ poolSize: 2 });
    await eventually('2 warm', () => warm().length === 2);
    await first.stop();
    expect(machine.containers.size).toBe(2);
    pool.host('hst-1').launched = false;
    start({ poolSize: 2 });
    await eventually('adopted', () => pool.host('hst-1').launched);
    expect(machine.launches).toBe(2);
  });

  it('removes containers that have no row', async () => {
    const container = { hostId: 'hst-old', phase: 'running', digest: 'memory' } as const;
    machine.containers.set('hst-old', container);
    start({ poolSize: 0 });
    await eventually('removed', () => machine.containers.size === 0);
  });

  it('reports no failing launches for hosts that ended while no orchestrator ran', async () => {
    const first = start({ poolSize: 2 });
    await eventually('2 warm', () => warm().length === 2);
    await first.stop();
    const ids = pool.live().map(({ id }) => id);
    for (const id of ids) {
      pool.host(id).state = 'starting';
      machine.kill(id);
    }
    start({ poolSize: 2 });
    await eventually('2 others', () => warm().length === 2);
    expect(ids.map((id) => pool.host(id).end)).toEqual(['exited', 'exited']);
    expect(said.filter((line) => 'launches' in line)).toEqual([]);
  });

  it('waits while another orchestrator holds the lease', async () => {
    const first = start({ poolSize: 1, holder: 'a' });
    await eventually('1 warm', () => warm().length === 1);
    start({ poolSize: 3, holder: 'b' });
    await eventually('asked for the lease', () =>
      said.some((line) => 'leading' in line && !line.leading),
    );
    expect(pool.live()).toHaveLength(1);
    await first.stop();
    await eventually('taken over', () => warm().length === 3);
    expect(pool.holder()).toBe('b');
  });

  it('of the same name takes over at once, and its predecessor stops and does not lead again', async () => {
    start({ poolSize: 1, holder: 'a' });
    await eventually('1 warm', () => warm().length === 1);
    start({ poolSize: 3, holder: 'a' });
    await eventually('taken over', () => warm().length === 3);
    pool.setWaiting(1);
    await eventually('the elder stopped', () =>
      said.some((line) => 'leading' in line && !line.leading),
    );
    await eventually('4 hosts', () => pool.live().length === 4);
    expect(said.filter((line) => 'leading' in line)).toHaveLength(3);
  });
});

describe('an orchestrator that lost its lease', () => {
  it('launches nothing, and stops at the first refusal', async () => {
    start({ poolSize: 1 });
    await eventually('1 warm', () => warm().length === 1);
    pool.depose();
    pool.setWaiting(5);
    await eventually('stopped', () => said.some((line) => 'leading' in line && !line.leading));
    expect(pool.hosts()).toHaveLength(1);
    expect(machine.launches).toBe(1);
  });
});

describe('stopping', () => {
  it('leaves hosts running and releases the lease', async () => {
    const orchestrator = start({ poolSize: 2, onStop: 'leave' });
    await eventually('2 warm', () => warm().length === 2);
    await orchestrator.stop();
    expect(pool.holder()).toBeUndefined();
    expect(warm()).toHaveLength(2);
    expect(machine.containers.size).toBe(2);
  });

  it('ends every host if the command asks for it', async () => {
    const orchestrator = start({ poolSize: 2, onStop: 'destroy' });
    await eventually('2 warm', () => warm().length === 2);
    await orchestrator.stop();
    expect(pool.live()).toEqual([]);
    expect(pool.hosts().map(({ end }) => end)).toEqual(['shutdown', 'shutdown']);
    expect(machine.containers.size).toBe(0);
  });

  it('waits for a launch in progress, and ends its host', async () => {
    const made = Promise.withResolvers<void>();
    machine.onLaunch = () => made.promise;
    const orchestrator = start({ poolSize: 1, onStop: 'destroy' });
    await eventually('a launch', () => machine.launches === 1);
    const stopped = orchestrator.stop();
    await eventually('drained', () => pool.hosts()[0]?.end === 'shutdown');
    made.resolve();
    await stopped;
    expect(machine.containers.size).toBe(0);
    expect(pool.live()).toEqual([]);
  });

  it('reports a container that is left, and completes all other steps', async () => {
    const orchestrator = start({ poolSize: 1, onStop: 'destroy' });
    await eventually('1 warm', () => warm().length === 1);
    machine.onDestroy = () => {
      throw new AppError('unavailable', 'the engine is slow');
    };
    running = [];
    await expect(orchestrator.stop()).rejects.toThrow('the engine is slow');
    expect(pool.live()).toEqual([]);
    expect(pool.holder()).toBeUndefined();
  });

  it('reports that it does not lead, and therefore ends nothing', async () => {
    const first = start({ poolSize: 1, holder: 'a' });
    await eventually('1 warm', () => warm().length === 1);
    const second = start({ holder: 'b', onStop: 'destroy' });
    running = [first];
    await expect(second.stop()).rejects.toThrow('does not lead');
    expect(machine.containers.size).toBe(1);
  });

  it('ends containers even when the control plane is away', async () => {
    const orchestrator = start({ poolSize: 2, onStop: 'destroy' });
    await eventually('2 warm', () => warm().length === 2);
    pool.setDown(true);
    await orchestrator.stop();
    expect(machine.containers.size).toBe(0);
  });
});

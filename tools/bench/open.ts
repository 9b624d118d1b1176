/** Measures how fast a session opens when a host is warm: a blank one, and one that already holds the world. */

import { until } from '#runtime/pause.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import { close, createNotes, open } from '../../test/support/control/sessions.ts';
import type { Network } from '../../test/support/programs/network.ts';
import { type Figure, median, percentile } from './figure.ts';
import { type Floor, floorOf } from './floor.ts';

const warmOpens = 60;
const reuseOpens = 100;
const poolSize = 2;

/** Resolves when enough hosts are warm and none is starting, recycling or draining. */
const settled = (network: Network): Promise<unknown> =>
  until(
    async () => {
      const states = (await network.hosts()).map((host) => host.state);
      return states.length >= poolSize && states.every((state) => state === 'warm');
    },
    { timeoutMs: 30_000, everyMs: 100, what: 'a warm and quiet pool' },
  );

/** Measures opens on blank warm hosts; between two, it waits until the pool is full and quiet again. */
const measureWarm = async (network: Network): Promise<number[]> => {
  const samples: number[] = [];
  for (let run = 0; run < warmOpens; run += 1) {
    await settled(network);
    const startedAt = performance.now();
    const session = await open(network.client, { slug: 'code-hosting', task: 'close-duplicate' });
    samples.push(performance.now() - startedAt);
    if (session.state !== 'READY') throw new Error(`${session.id} is ${session.state}`);
    await close(network.client, session.id);
  }
  return samples;
};

const measureReuse = async (network: Network): Promise<number[]> => {
  const samples: number[] = [];
  for (let run = 0; run < reuseOpens; run += 1) {
    await settled(network);
    const startedAt = performance.now();
    const session = await open(network.client, {
      slug: 'code-hosting',
      task: 'close-duplicate',
      reuseWarm: true,
    });
    const ms = performance.now() - startedAt;
    if (session.hostReused) samples.push(ms);
    await close(network.client, session.id, true);
  }
  if (samples.length < reuseOpens / 2)
    throw new Error(`only ${samples.length} opens reused a host`);
  return samples;
};

/** Creates the worlds, which the other benchmarks use, too. */
export const prepareWorlds = async (network: Network): Promise<void> => {
  await createNotes(network.client);
  await network.client.send(createWorld, { body: { slug: 'code-hosting', from: 'code-hosting' } });
};

/** Measures opens. Each needs two round trips (open, ready) and two commits (claim, ready). */
export const benchOpen = async (network: Network, floor: Floor): Promise<Figure[]> => {
  const warm = await measureWarm(network);
  const reuse = await measureReuse(network);
  const bare = floorOf(floor, 2, 2);
  const figure = (name: string, value: number, target: number | null): Figure => ({
    name,
    value,
    unit: 'ms',
    floor: bare,
    peer: null,
    target,
    better: 'lower',
  });
  return [
    figure('open.warm.p50', median(warm), 25),
    figure('open.warm.p99', percentile(warm, 0.99), null),
    figure('open.reuse.p50', median(reuse), null),
  ];
};

/** Measures the latency of a tool call from client to client, and how many calls a machine answers in a second. */

import { close } from '../../test/support/control/sessions.ts';
import type { Network } from '../../test/support/programs/network.ts';
import { callEach, openNotes } from './busy-sessions.ts';
import { type Figure, median, sample } from './figure.ts';
import { type Floor, floorOf } from './floor.ts';

const calls = 500;
const warmUp = 50;
/** Number of calls of each busy session after which the hosts' hot code is compiled. */
const warmUpBusy = 200;
const parallelSessions = 32;
const throughputSeconds = 5;

const measureLatency = async (network: Network): Promise<number> => {
  const [sessionId = ''] = await openNotes(network, 1);
  await callEach(network, [sessionId], warmUp);
  const samples = await sample(calls, () => callEach(network, [sessionId], 1));
  await close(network.client, sessionId);
  return median(samples);
};

/** Measures calls a second over sessions that are all busy, with one client each. */
const measureThroughput = async (network: Network): Promise<number> => {
  const ids = await openNotes(network, parallelSessions);
  await callEach(network, ids, warmUpBusy);
  const endsAt = performance.now() + throughputSeconds * 1_000;
  const counts = await Promise.all(
    ids.map(async (sessionId) => {
      let done = 0;
      while (performance.now() < endsAt) {
        await callEach(network, [sessionId], 1);
        done += 1;
      }
      return done;
    }),
  );
  await Promise.all(ids.map((sessionId) => close(network.client, sessionId)));
  return counts.reduce((sum, count) => sum + count, 0) / throughputSeconds;
};

/** Measures calls. Each needs two round trips (client, host) and two commits (the call, its answer). */
export const benchCall = async (network: Network, floor: Floor): Promise<Figure[]> => {
  const bare = floorOf(floor, 2, 2);
  return [
    {
      name: 'call.tool.p50',
      value: await measureLatency(network),
      unit: 'ms',
      floor: bare,
      peer: null,
      target: 8,
      better: 'lower',
    },
    {
      name: 'call.tool.throughput',
      value: await measureThroughput(network),
      unit: 'calls/s',
      floor: 1_000 / bare,
      peer: null,
      target: null,
      better: 'higher',
    },
  ];
};

/** How long a tool call takes from client to client, and how many a machine answers in a second. */
import type { Network } from '../support/network.ts';
import { call, close, open } from '../support/sessions.ts';
import { type Figure, median, sample } from './figure.ts';
import { type Floor, floorOf } from './floor.ts';

const calls = 500;
const warmUp = 50;
const parallelSessions = 32;
const throughputSeconds = 5;

const callOnce = async (network: Network, sessionId: string): Promise<void> => {
  const answer = await call(network.client, sessionId, {
    kind: 'tool',
    name: 'list_notes',
    input: { folder_id: 1 },
  });
  if (answer.state !== 'succeeded') throw new Error(`call ${answer.id} is ${answer.state}`);
};

const openNotes = async (network: Network): Promise<string> => {
  const session = await open(network.client, { slug: 'notes', reuseWarm: true });
  if (session.state !== 'READY') throw new Error(`${session.id} is ${session.state}`);
  return session.id;
};

const measureLatency = async (network: Network): Promise<number> => {
  const sessionId = await openNotes(network);
  await sample(warmUp, () => callOnce(network, sessionId));
  const samples = await sample(calls, () => callOnce(network, sessionId));
  await close(network.client, sessionId);
  return median(samples);
};

/** Calls a second over sessions that are all busy, one client each. */
const measureThroughput = async (network: Network): Promise<number> => {
  const ids = await Promise.all(Array.from({ length: parallelSessions }, () => openNotes(network)));
  const endsAt = performance.now() + throughputSeconds * 1_000;
  const counts = await Promise.all(
    ids.map(async (sessionId) => {
      let done = 0;
      while (performance.now() < endsAt) {
        await callOnce(network, sessionId);
        done += 1;
      }
      return done;
    }),
  );
  await Promise.all(ids.map((sessionId) => close(network.client, sessionId)));
  return counts.reduce((sum, count) => sum + count, 0) / throughputSeconds;
};

/** A call needs two round trips (client, host) and two commits (the call, its answer). */
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

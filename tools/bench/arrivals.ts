/**
 * Arrival times of a load's sessions, and a process of its own that opens them. Arrivals are an open loop: each
 * happens at its time, however many earlier ones are still in progress. Its waiting time counts from then on, so that
 * a service that falls behind cannot hide it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createChance } from '../../test/support/random/chance.ts';

/**
 * Instructions for the process: the work at each arrival, and the arrival times in milliseconds from the start of the
 * load.
 */
export type LoadJob = {
  /** `session`: a session is opened, called, closed; `commits`: as many bare commits as a session needs. */
  journey: 'session' | 'commits';
  url: string;
  authorization: string;
  offsetsMs: readonly number[];
};

/**
 * One arrival: its due time, counted from the start of the load, and the time from its due time to an event, in
 * milliseconds.
 */
export type Timed = { dueMs: number; tookMs: number };

export type LoadResult = {
  /** Time from each arrival until its session was ready, in milliseconds, for each that became ready. */
  readyMs: number[];
  /** Time from each arrival until its first call was answered, in milliseconds. */
  answeredMs: number[];
  /** Arrivals that were refused for now, each with the time to the refusal. */
  refused: Timed[];
  /** Arrivals whose session became ready, each with the time until then. */
  ready: Timed[];
  /** Failures, one line each. */
  failures: string[];
  /** Processor time of the generating process, in seconds a second. */
  cores: number;
};

const generator = fileURLToPath(new URL('./arrivals-load.ts', import.meta.url));

/** Returns arrival times of a Poisson process: independent of each other, `perSecond` of them on average. */
export const poissonArrivals = (seed: number, perSecond: number, seconds: number): number[] => {
  const { around } = createChance(seed);
  const meanMs = 1_000 / perSecond;
  const offsets: number[] = [];
  for (let at = around(meanMs); at < seconds * 1_000; at += around(meanMs)) offsets.push(at);
  return offsets;
};

/** Runs a load in a process of its own. Throws when that process fails; a failed session is only reported. */
export const runLoad = async (job: LoadJob): Promise<LoadResult> => {
  const child = spawn(process.execPath, [generator], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  child.stdin.end(JSON.stringify(job));
  const said = await text(child.stdout);
  const [status] = await ended;
  if (status !== 0) throw new Error(`the load ended with status ${status}`);
  return JSON.parse(said) as LoadResult;
};

/**
 * When the sessions of a load are asked for, and a process of its own that asks for them. Arrivals are
 * an open loop: each comes at its time, however many before it are still under way, and what it waited
 * counts from that time on, so that a service that falls behind cannot hide it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createChance } from '../support/chance.ts';

/** What is done at each arrival, and at which moments of the load, in milliseconds from its start. */
export type LoadJob = {
  /** `session`: a session is opened, called, closed; `commits`: as many bare commits. */
  journey: 'session' | 'commits';
  url: string;
  authorization: string;
  offsetsMs: readonly number[];
};

/** Of one arrival: when it was due, from the start of the load, and how long something took from there on. */
export type Timed = { dueMs: number; tookMs: number };

export type LoadResult = {
  /** Milliseconds from when a session was to be asked for until it was ready, one for each that was. */
  readyMs: number[];
  /** And until its first call was answered. */
  answeredMs: number[];
  /** When each that was refused for now was asked for, and how long it took to be told. */
  refused: Timed[];
  /** When each that was ready was asked for, and how long it took. */
  ready: Timed[];
  /** What went wrong, one line each. */
  failures: string[];
  /** Processor time of the asking process, in seconds a second. */
  cores: number;
};

const generator = fileURLToPath(new URL('./arrivals-load.ts', import.meta.url));

/** Moments of a Poisson process: independent of each other, `perSecond` of them on average. */
export const poissonArrivals = (seed: number, perSecond: number, seconds: number): number[] => {
  const { around } = createChance(seed);
  const meanMs = 1_000 / perSecond;
  const offsets: number[] = [];
  for (let at = around(meanMs); at < seconds * 1_000; at += around(meanMs)) offsets.push(at);
  return offsets;
};

/** Runs a load in a process of its own. Throws when that fails; a session that fails does not. */
export const runLoad = async (job: LoadJob): Promise<LoadResult> => {
  const child = spawn(process.execPath, [generator], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  child.stdin.end(JSON.stringify(job));
  const said = await text(child.stdout);
  const [status] = await ended;
  if (status !== 0) throw new Error(`the load ended with status ${status}`);
  return JSON.parse(said) as LoadResult;
};

/**
 * Generates load on one server: connections, 16 by default, each with one request in progress, that cycle through a
 * list of requests. It measures requests a second, latency percentiles, and the server's processor time.
 *
 * `wrk` sends the requests if it is installed. Otherwise autocannon does, which needs as much of a processor as a bare
 * server and so makes fast servers look slower than they are.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { askWithAutocannon } from './host-autocannon.ts';
import { askWithWrk, hasWrk } from './host-wrk.ts';

const usualConnections = 16;

export type LoadRequest = {
  method: 'GET' | 'PATCH' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

export type LoadTarget = { name: string; url: string; pid: number };

export type Load = { requests: readonly LoadRequest[]; seconds: number; connections: number };

/** Measurements of a load generator. */
export type Seen = {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests without an answer, and those with an unsuccessful one. */
  failed: number;
};

export type Measured = {
  perSecond: number;
  requests: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the server and its workers for each request, in microseconds; null if it cannot be read. */
  cpuMicros: number | null;
};

const ticksPerSecond = 100;

/** Reads a process from `/proc`; returns undefined when it has ended. */
const statOf = (pid: number): { parent: number; cpuMs: number } | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const cpuMs = ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
    return { parent: Number(fields[1]), cpuMs };
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/**
 * Returns the processor time of a process and its live descendants since their start, in milliseconds; null without
 * `/proc`.
 */
const cpuMs = (pid: number): number | null => {
  if (process.platform !== 'linux') return null;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const stats = new Map(pids.map((one) => [one, statOf(one)]));
  const isBelow = (one: number): boolean =>
    one === pid || (one > 1 && isBelow(stats.get(one)?.parent ?? 0));
  return [...stats].reduce((sum, [one, stat]) => sum + (isBelow(one) ? (stat?.cpuMs ?? 0) : 0), 0);
};

/** Returns the resident memory of a process in MB; null without `/proc`. */
export const residentMb = (pid: number): number | null => {
  if (process.platform !== 'linux') return null;
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};

/** Load generator of this machine. */
export const loadGenerator = hasWrk() ? 'wrk' : 'autocannon';
const ask = loadGenerator === 'wrk' ? askWithWrk : askWithAutocannon;

/** Pause in which a server finishes deferred work before another one is measured, in milliseconds. */
const settleMs = 50;

/** Measures a load. Throws when a request fails or is answered with anything but success. */
export const loadFor = async (
  target: LoadTarget,
  requests: readonly LoadRequest[],
  seconds: number,
  connections = usualConnections,
): Promise<Measured> => {
  const startedMs = cpuMs(target.pid);
  const seen = await ask(target.url, { requests, seconds, connections });
  const endedMs = cpuMs(target.pid);
  if (seen.failed > 0 || seen.requests === 0) {
    throw new Error(`${target.name}: ${seen.failed} of ${seen.requests} requests failed`);
  }
  await delay(settleMs);
  return {
    perSecond: seen.requests / seen.seconds,
    requests: seen.requests,
    p50Ms: seen.p50Ms,
    p99Ms: seen.p99Ms,
    cpuMicros:
      startedMs === null || endedMs === null
        ? null
        : ((endedMs - startedMs) * 1000) / seen.requests,
  };
};

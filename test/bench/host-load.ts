/**
 * Load on one server: connections, 16 unless said otherwise, each with one request under way, that walk through a
 * list of requests; how many are answered in a second, how long the slow ones take, what the server spends.
 *
 * `wrk` asks, where it is installed. Elsewhere autocannon does, which needs as much of a processor as a
 * bare server and so makes fast servers look slower than they are.
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

/** What a load generator saw. */
export type Seen = {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests without an answer, and those with another one than success. */
  failed: number;
};

export type Measured = {
  perSecond: number;
  requests: number;
  p50Ms: number;
  p99Ms: number;
  /** Microseconds of processor time that the server and its workers spent on a request; null where none can be read. */
  cpuMicros: number | null;
};

const ticksPerSecond = 100;

/** A process by its line in `/proc`, or undefined when it has ended. */
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
 * Milliseconds of processor time that a process and those below it have used since they started, as far as they still
 * live; null where there is no `/proc`.
 */
const cpuMs = (pid: number): number | null => {
  if (process.platform !== 'linux') return null;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const stats = new Map(pids.map((one) => [one, statOf(one)]));
  const isBelow = (one: number): boolean =>
    one === pid || (one > 1 && isBelow(stats.get(one)?.parent ?? 0));
  return [...stats].reduce((sum, [one, stat]) => sum + (isBelow(one) ? (stat?.cpuMs ?? 0) : 0), 0);
};

/** Resident megabytes of a process; null where there is no `/proc`. */
export const residentMb = (pid: number): number | null => {
  if (process.platform !== 'linux') return null;
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};

/** The load generator of this machine. */
export const loadGenerator = hasWrk() ? 'wrk' : 'autocannon';
const ask = loadGenerator === 'wrk' ? askWithWrk : askWithAutocannon;

/** Lets a server finish what it put off before another one is measured. */
const settleMs = 50;

/** Throws when a request fails or is answered with anything but success. */
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

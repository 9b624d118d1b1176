/**
 * Measures how many opens a second a machine sustains, and what happens to opens beyond that. The rate of Poisson
 * arrivals rises step by step until most opens are refused. Then it is twice the sustained rate, and then at once half
 * of it, to measure how soon all opens are served again.
 */
import type { Network } from '../../test/support/programs/network.ts';
import { type LoadResult, poissonArrivals, runLoad, type Timed } from './arrivals.ts';
import { type Figure, percentile } from './figure.ts';
import { settled, withNetwork } from './poisson.ts';
import { watchProcessorTime } from './processor-time.ts';
import { sessionJob } from './session-job.ts';

const rates = [10, 20, 30, 40, 50, 60, 75, 90, 120];
const stepSeconds = 10;
const warmUp = { rate: 30, seconds: 15 };
const overload = { seconds: 20, afterwards: 12 };
const seed = 20_263;
const pool = { poolSize: 16, poolMax: 16 };
/** Limit of a sustained rate, in milliseconds: none is refused, and 99 of 100 are ready within this time. */
const borneMs = 250;

type Say = (line: string) => void;

/** A rate at which requests to open a session arrive, and the results of these requests. */
export type Step = {
  rate: number;
  served: number;
  refused: number;
  failed: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of all programs but the load's, in milliseconds for each served session. */
  cpuMs: number;
};

export type Curve = {
  steps: Step[];
  /** The highest sustained rate. */
  borne: Step;
  /** Results at twice the sustained rate. */
  overload: Step & { refusedP99Ms: number; recoveryMs: number };
};

const tookOf = (timed: readonly Timed[]): number[] => timed.map(({ tookMs }) => tookMs);

/** The measured system: a network and its database's server. */
type Measured = { network: Network; server: { pid: number } };

/** Runs a load, and measures the processor time of all programs meanwhile. */
const runMeasured = async (
  measured: Measured,
  arrivals: readonly number[],
): Promise<LoadResult & { cpuMs: number }> => {
  const { network, server } = measured;
  const end = watchProcessorTime([network.control.pid, network.orchestrator.pid, server.pid]);
  const result = await runLoad(sessionJob(network, arrivals));
  return { ...result, cpuMs: end() / Math.max(1, result.ready.length) };
};

const stepOf = (
  rate: number,
  { ready, refused, failures, cpuMs }: LoadResult & { cpuMs: number },
): Step => ({
  rate,
  served: ready.length,
  refused: refused.length,
  failed: failures.length,
  p50Ms: percentile(tookOf(ready), 0.5),
  p99Ms: percentile(tookOf(ready), 0.99),
  cpuMs,
});

const show = ({ rate, served, refused, failed, p50Ms, p99Ms, cpuMs }: Step): string =>
  `  ${rate} a second: ${served} served, ${refused} refused, ${failed} failed, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ${cpuMs.toFixed(1)} ms of processor time each`;

const isBorne = ({ refused, failed, p99Ms }: Step): boolean =>
  refused === 0 && failed === 0 && p99Ms <= borneMs;

const climb = async (measured: Measured, say: Say): Promise<Step[]> => {
  const steps: Step[] = [];
  for (const rate of rates) {
    await settled(measured.network, pool.poolSize);
    const arrivals = poissonArrivals(seed + rate, rate, stepSeconds);
    const step = stepOf(rate, await runMeasured(measured, arrivals));
    say(show(step));
    steps.push(step);
  }
  return steps;
};

/**
 * Returns the time from the end of the overload until all later arrivals are ready as fast as at the sustained rate.
 */
const recoveryOf = ({ ready, refused }: LoadResult, endMs: number, usualMs: number): number => {
  const late = [...refused, ...ready.filter(({ tookMs }) => tookMs > usualMs)];
  const after = late.map(({ dueMs }) => dueMs - endMs).filter((ms) => ms >= 0);
  return Math.max(0, ...after);
};

const overloadWith = async (measured: Measured, borne: Step): Promise<Curve['overload']> => {
  await settled(measured.network, pool.poolSize);
  const rate = 2 * borne.rate;
  const endMs = overload.seconds * 1_000;
  const arrivals = [
    ...poissonArrivals(seed, rate, overload.seconds),
    ...poissonArrivals(seed + 1, borne.rate / 2, overload.afterwards).map((ms) => ms + endMs),
  ];
  const result = await runMeasured(measured, arrivals);
  const isDuring = ({ dueMs }: Timed): boolean => dueMs < endMs;
  const [ready, refused] = [result.ready.filter(isDuring), result.refused.filter(isDuring)];
  return {
    ...stepOf(rate, { ...result, ready, refused }),
    refusedP99Ms: refused.length === 0 ? 0 : percentile(tookOf(refused), 0.99),
    recoveryMs: recoveryOf(result, endMs, Math.max(borne.p99Ms, borneMs)),
  };
};

/** Measures the curve. If not even the lowest rate is sustained, the overload is twice the lowest rate. */
export const benchCurve = (
  server: Measured['server'],
  databaseUrl: string,
  say: Say,
): Promise<Curve> =>
  withNetwork(databaseUrl, pool, async (network) => {
    await runLoad(sessionJob(network, poissonArrivals(seed - 1, warmUp.rate, warmUp.seconds)));
    const measured = { network, server };
    const steps = await climb(measured, say);
    const borne = steps.findLast(isBorne) ?? (steps[0] as Step);
    const found = await overloadWith(measured, borne);
    say(show(found));
    return { steps, borne, overload: found };
  });

const figure = (name: string, value: number, rest: Partial<Figure> = {}): Figure => ({
  name,
  value,
  unit: 'ms',
  floor: null,
  peer: null,
  target: null,
  better: 'lower',
  ...rest,
});

/** Returns the figures of the curve. The floor of overload figures is the measurement at the sustained rate. */
export const figuresOfCurve = ({ borne, overload: found }: Curve): Figure[] => {
  const perSecond = found.served / overload.seconds;
  return [
    figure('open.curve.borne', borne.rate, { unit: 'opens/s', better: 'higher' }),
    figure('open.curve.p50', borne.p50Ms),
    figure('open.curve.p99', borne.p99Ms),
    figure('open.overload.p50', found.p50Ms, { floor: borne.p50Ms }),
    figure('open.overload.p99', found.p99Ms, { floor: borne.p99Ms }),
    figure('open.overload.served', perSecond, {
      unit: 'opens/s',
      floor: borne.rate,
      better: 'higher',
    }),
    figure('open.overload.refused.p99', found.refusedP99Ms),
    figure('open.overload.lost', found.failed, { unit: 'each', target: 0 }),
    figure('open.overload.recovery', found.recoveryMs, { target: 5_000 }),
  ];
};

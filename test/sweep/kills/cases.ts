/**
 * Chooses from a seed alone which faults strike at which moments. Every pair of fault and moment occurs once before
 * any repeats, in an order that the seed shuffles.
 */
import fc from 'fast-check';
import { type Choices, createChoices } from '../../support/random/choices.ts';
import { type Fault, faults } from './faults.ts';
import { type Moment, moments } from './moments.ts';

export type Case = {
  seed: number;
  /** Number of the case, from 1; together with the seed it determines the case. */
  number: number;
  fault: Fault;
  moment: Moment;
  /** Delay from the moment to the strike, in milliseconds. It is used when the request is not held until the strike. */
  delayMs: number;
  /** Duration of the fault, in milliseconds. */
  lastsMs: number;
  /** For each of the case's two sessions: true if its host is reused. */
  keepWarm: [boolean, boolean];
};

const longestDelayMs = 25;
const longestFaultMs = 1_500;

const choicesOf = (seed: number, count: number): Choices =>
  createChoices(fc.sample(fc.noBias(fc.nat()), { seed, numRuns: count }));

const shuffled = <Item>(items: readonly Item[], seed: number): Item[] => {
  const choices = choicesOf(seed, items.length);
  const rest = [...items];
  return items.map(() => rest.splice(choices.below(rest.length), 1)[0] as Item);
};

export type Wanted = {
  seed: number;
  times: number;
  withLong: boolean;
  runtime: NonNullable<Fault['only']>;
};

/** Returns the first cases of a seed, as many as wanted. */
export const casesOf = ({ seed, times, withLong, runtime }: Wanted): Case[] => {
  const struck = faults.filter(
    ({ isLong, only = runtime }) => only === runtime && (withLong || isLong === undefined),
  );
  const pairs = shuffled(
    struck.flatMap((fault) => moments.map((moment) => ({ fault, moment }))),
    seed,
  );
  return Array.from({ length: times }, (_, index) => {
    const choices = choicesOf(seed + index, 5);
    const { fault, moment } = pairs[index % pairs.length] as (typeof pairs)[number];
    return {
      seed,
      number: index + 1,
      fault,
      moment,
      delayMs: moment.edge === 'passed' ? choices.below(longestDelayMs) : 0,
      lastsMs: choices.below(longestFaultMs),
      // At most one host is reused, so that there is always one to launch.
      keepWarm: [choices.oneIn(2), false],
    };
  });
};

export const describeCase = ({ number, fault, moment }: Case): string =>
  `case ${number}: ${fault.name} at "${moment.name}"`;

/**
 * Which faults strike when, chosen by a seed alone: every fault meets every moment once before any pair
 * comes again, in an order that the seed shuffles.
 */
import fc from 'fast-check';
import { type Choices, createChoices } from '../support/choices.ts';
import { type Fault, faults } from './faults.ts';
import { type Moment, moments } from './moments.ts';

export type Case = {
  seed: number;
  /** From 1; with the seed it makes the case. */
  number: number;
  fault: Fault;
  moment: Moment;
  /** From the moment to the strike, when the request is not held for it. */
  delayMs: number;
  /** How long the fault lasts. */
  lastsMs: number;
  /** Whether the hosts of the case's two sessions are to be used again. */
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

/** The first so many cases of a seed. */
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
      // One host is used again and one is not, or neither: there is always one to launch.
      keepWarm: [choices.oneIn(2), false],
    };
  });
};

export const describeCase = ({ number, fault, moment }: Case): string =>
  `case ${number}: ${fault.name} at "${moment.name}"`;

/** The tier of this run, for suites that are held against several runtimes. */
import { readTier, type Tier } from '../tiers.ts';

/** A file that is named alone, without a tier, runs as in the full one. */
export const tier: Tier = readTier(process.env.SVC_TEST_TIER);

const onThisMachine = ['process', 'bubblewrap'];

/** Returns the runtimes of a suite that this tier runs it on: all in the full one, else those without containers. */
export const runtimesOfTier = <Name extends string>(names: readonly Name[]): Name[] =>
  names.filter((name) => tier === 'full' || onThisMachine.includes(name));

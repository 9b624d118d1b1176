/** The tier of this run, for suites that run on several runtimes. */
import { readTier, type Tier } from '../../tiers.ts';

/** Tier of this run. A file that is run alone, without a tier, runs as in the full tier. */
export const tier: Tier = readTier(process.env.SVC_TEST_TIER);

const onThisMachine = ['process', 'bubblewrap'];

/** Returns the runtimes on which this tier runs a suite: all in the full one, else those without containers. */
export const runtimesOfTier = <Name extends string>(names: readonly Name[]): Name[] =>
  names.filter((name) => tier === 'full' || onThisMachine.includes(name));

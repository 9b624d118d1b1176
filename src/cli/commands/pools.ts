/** `svc pools`: what operators ask: which pools there are, and whether a file of pools is right. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addPoolsCheck } from './pools-check.ts';
import { addPoolsList } from './pools-list.ts';

export const addPools = (program: Command, context: Context): void => {
  const pools = program
    .command('pools')
    .description('for operators: look at the pools of world hosts, check a file of them');
  addPoolsList(pools, context);
  addPoolsCheck(pools, context);
};

/** `svc pools`: whether a file of pools is right. What the pools are just now is `svc admin pools`. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { addPoolsCheck } from './pools-check.ts';

export const addPools = (program: Command, context: Context): void => {
  const pools = program.command('pools').description('for operators: check a file of pools');
  addPoolsCheck(pools, context);
};

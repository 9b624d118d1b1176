/**
 * Program of the processes that combine kept rows with those of a tree (`carry.ts`). It has a low priority, so that
 * opens and calls of sessions run first.
 */
import { setPriority } from 'node:os';
import { carryRows } from '#data/import/carry.ts';
import type { CarryJob } from './carry.ts';
import { serveJobs } from './serve-jobs.ts';

const priority = 10;

setPriority(priority);
serveJobs(({ plan, contractJson, treeRowsJson, storeBytes }: CarryJob) => {
  const [contract, treeRows] = [JSON.parse(contractJson), JSON.parse(treeRowsJson)];
  return carryRows({ ...plan, contract, treeRows }, storeBytes);
});

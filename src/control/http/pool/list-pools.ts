/** GET /pools */
import { listPools as operation } from '#wire/pool-api/operations.ts';
import { listPools as list } from '../../db/pools.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const listPools = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async () => respond(200, { pools: await list(db) }));

/** GET /pools */
import { listPools as operation } from '#wire/admin-api/operations.ts';
import { listPools as list } from '../../db/admin.ts';
import { readLoad } from '../../db/load.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const listPools = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async () => {
    const [pools, { waiting, longestWaitMs }] = await Promise.all([list(db), readLoad(db)]);
    return respond(200, { pools, waitingSessions: waiting, longestWaitMs });
  });

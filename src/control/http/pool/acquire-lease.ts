/** POST /lease */
import { acquireLease as operation } from '#wire/pool-api/operations.ts';
import { acquireLease as acquire } from '../../db/leases.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const acquireLease = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ body }) => {
    const epoch = await acquire(db, body);
    return respond(200, epoch === undefined ? { held: false } : { held: true, epoch });
  });

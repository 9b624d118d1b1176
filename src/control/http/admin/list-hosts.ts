/** GET /hosts */
import { listHosts as operation } from '#wire/admin-api/operations.ts';
import { listHosts as list } from '../../db/admin.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

const usualLimit = 1_000;

export const listHosts = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ query: { limit, ...filter } }) =>
    respond(200, await list(db, filter, limit ?? usualLimit)),
  );

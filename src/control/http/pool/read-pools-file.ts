/** GET /pools-file */
import { readPoolsFile as operation } from '#wire/pool-api/operations.ts';
import { findPoolsFile } from '../../db/pools-files.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const readPoolsFile = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ query: { installation } }) =>
    respond(200, { file: (await findPoolsFile(db, installation)) ?? null }),
  );

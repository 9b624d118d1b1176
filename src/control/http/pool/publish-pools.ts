/** PUT /pools */
import { publishPools as operation } from '#wire/pool-api/operations.ts';
import { noteRefused, underLease } from '../../db/leases.ts';
import { findUnknownWorlds, replacePools } from '../../db/pools.ts';
import { keepPoolsFile } from '../../db/pools-files.ts';
import { poolTopic } from '../../news/notices.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const publishPools = ({ db, notices }: Pick<Parts, 'db' | 'notices'>) =>
  endpoint(operation, async ({ body: { lease, installation, pools, refused, file } }) => {
    if (await replacePools(underLease(db, lease), installation, pools)) notices.tell(poolTopic);
    if (file !== undefined) await keepPoolsFile(db, lease, installation, file);
    if (refused !== undefined) await noteRefused(db, installation, lease, refused);
    return respond(200, { unknownWorlds: await findUnknownWorlds(db, installation) });
  });

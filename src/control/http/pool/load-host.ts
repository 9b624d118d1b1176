/** POST /hosts/{hostId}/load */
import { AppError } from '#domain/error.ts';
import { loadHost as operation } from '#wire/pool-api/operations.ts';
import type { Queryable } from '../../db/database.ts';
import { beginLoad } from '../../db/hosts.ts';
import { underLease } from '../../db/leases.ts';
import { poolTopic } from '../../news/notices.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const loadHost = ({ db, notices }: Pick<Parts, 'db' | 'notices'>) =>
  endpoint(operation, async ({ params: { hostId }, body: { lease, versionId } }) => {
    const load = (tx: Queryable) => beginLoad(tx, hostId, versionId);
    if (!(await underLease(db, lease).transaction(load))) {
      const message = `${hostId} is not warm and empty by now, or there is no version "${versionId}"`;
      throw new AppError('conflict', message);
    }
    notices.tell(hostId, poolTopic);
    return respond(200, {});
  });

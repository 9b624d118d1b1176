/** POST /hosts */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { registerHost as operation } from '#wire/pool-api/operations.ts';
import { insertHost } from '../../db/hosts.ts';
import { underLease } from '../../db/leases.ts';
import { poolTopic } from '../../news/notices.ts';
import type { Parts } from '../../parts.ts';
import { hostToken } from '../auth.ts';
import { endpoint, respond } from '../endpoint.ts';

export const registerHost = ({ db, notices, secrets }: Pick<Parts, 'db' | 'notices' | 'secrets'>) =>
  endpoint(operation, async ({ body: { lease, ...host } }) => {
    const hostId = newId('hst');
    if (!(await insertHost(underLease(db, lease), { id: hostId, ...host }))) {
      const { installation, pool, maxLive } = host;
      throw new AppError(
        'exhausted',
        `pool ${installation}/${pool} has ${maxLive} live hosts already`,
        { detail: { full: 'pool' } },
      );
    }
    notices.tell(poolTopic);
    return respond(201, {
      hostId,
      generation: 0,
      token: hostToken(secrets.now().secret, hostId),
    });
  });

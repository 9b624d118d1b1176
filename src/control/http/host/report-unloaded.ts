/** POST /hosts/{hostId}/unloaded */
import { cut } from '#domain/cut.ts';
import { reportUnloaded as operation } from '#wire/host-api/operations.ts';
import { drainUnloaded } from '../../db/hosts.ts';
import { staleGeneration } from '../../hosts/warm.ts';
import { poolTopic } from '../../news/notices.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

/** Of what a host says of a failure. */
const mostChars = 4_000;

export const reportUnloaded = ({ db, notices }: Pick<Parts, 'db' | 'notices'>) =>
  endpoint(operation, async ({ params, body: { generation, message } }, { caller }) => {
    const hostId = checkHost(caller, params.hostId);
    if (!(await drainUnloaded(db, { hostId, generation, detail: cut(message, mostChars) }))) {
      throw staleGeneration(hostId, generation);
    }
    notices.tell(hostId, poolTopic);
    return respond(200, {});
  });

/** POST /hosts/{hostId}/heartbeat */
import { heartbeat as operation } from '#wire/host-api/operations.ts';
import { noteBeat } from '../../db/hosts.ts';
import { noteActivity } from '../../db/sessions.ts';
import { staleGeneration } from '../../hosts/warm.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

export const heartbeat = ({ db }: Pick<Parts, 'db'>) =>
  endpoint(operation, async ({ params, body }, { caller }) => {
    const hostId = checkHost(caller, params.hostId);
    const { generation, idleMs, rssBytes } = body;
    const standing = await noteBeat(db, { hostId, generation, rssBytes });
    if (standing === undefined) throw staleGeneration(hostId, generation);
    const { sessionId, state } = standing;
    if (sessionId !== null && idleMs !== undefined) {
      await noteActivity(db, { sessionId, hostId, generation }, idleMs);
    }
    return respond(200, { drain: state === 'draining' });
  });

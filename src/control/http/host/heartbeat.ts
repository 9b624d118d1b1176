/** POST /hosts/{hostId}/heartbeat */
import { heartbeat as operation } from '#wire/host-api/operations.ts';
import { type Beaten, noteBeat } from '../../db/hosts.ts';
import { noteActivity } from '../../db/sessions.ts';
import { staleGeneration } from '../../hosts/warm.ts';
import type { Parts } from '../../parts.ts';
import { apiAddress } from '../../sessions/view.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

/** Where the API of its session is by now, for a host that knows of the session. */
const addressFor = (
  config: Parts['config'],
  { generation, sessionId, address: hostAddress }: Beaten,
  told: number,
): string | null =>
  sessionId === null || generation !== told
    ? null
    : apiAddress(config, { id: sessionId, hostAddress });

export const heartbeat = ({ config, db }: Pick<Parts, 'config' | 'db'>) =>
  endpoint(operation, async ({ params, body }, { caller }) => {
    const hostId = checkHost(caller, params.hostId);
    const { generation, idleMs, rssBytes } = body;
    const standing = await noteBeat(db, { hostId, generation, rssBytes });
    if (standing === undefined) throw staleGeneration(hostId, generation);
    const { sessionId, state } = standing;
    if (sessionId !== null && idleMs !== undefined) {
      await noteActivity(db, { sessionId, hostId, generation }, idleMs);
    }
    const address = addressFor(config, standing, generation);
    return respond(200, {
      drain: state === 'draining',
      ...(address === null ? {} : { address }),
    });
  });

/** POST /hosts/{hostId}/warm */
import { reportWarm as operation } from '#wire/host-api/operations.ts';
import { findWhereabouts } from '../../db/hosts.ts';
import { reportWarm as report } from '../../hosts/warm.ts';
import type { Parts } from '../../parts.ts';
import { workingToken } from '../auth.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

export const reportWarm = (
  parts: Pick<
    Parts,
    'config' | 'db' | 'log' | 'metrics' | 'notices' | 'placer' | 'secrets' | 'tracer'
  >,
) =>
  endpoint(operation, async ({ params, body }, { caller }) => {
    const hostId = checkHost(caller, params.hostId);
    const state = await report(parts, { ...body, hostId, source: caller.source });
    if (!caller.isFirst || body.renews !== true) return respond(200, { state });
    // A replica of the release before may have taken the first report, which then asked for nothing.
    const isAsked = (await findWhereabouts(parts.db, hostId))?.renews === true;
    const token = workingToken(parts.secrets.now().secret, hostId);
    return respond(200, { state, ...(isAsked ? { token } : {}) });
  });

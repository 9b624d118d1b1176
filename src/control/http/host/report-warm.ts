/** POST /hosts/{hostId}/warm */
import { reportWarm as operation } from '#wire/host-api/operations.ts';
import { reportWarm as report } from '../../hosts/warm.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

export const reportWarm = (
  parts: Pick<Parts, 'config' | 'db' | 'log' | 'metrics' | 'notices' | 'placer' | 'tracer'>,
) =>
  endpoint(operation, async ({ params, body }, { caller }) => {
    const hostId = checkHost(caller, params.hostId);
    return respond(200, { state: await report(parts, { ...body, hostId, source: caller.source }) });
  });

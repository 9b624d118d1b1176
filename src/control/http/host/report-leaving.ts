/** POST /hosts/{hostId}/leaving */
import { reportLeaving as operation } from '#wire/host-api/operations.ts';
import { loseHost } from '../../hosts/lose.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

export const reportLeaving = (
  parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices' | 'placer' | 'tracer'>,
) =>
  endpoint(operation, async ({ params, body: { generation } }, { caller }) => {
    const hostId = checkHost(caller, params.hostId);
    const detail = 'its machine told it to stop';
    await loseHost(parts, { hostId, generation, to: 'draining', reason: 'reclaimed', detail });
    return respond(200, {});
  });

/** POST /hosts/{hostId}/gone */
import { reportGone as operation } from '#wire/pool-api/operations.ts';
import { loseHost } from '../../hosts/lose.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const reportGone = (
  parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices' | 'placer' | 'tracer'>,
) =>
  endpoint(operation, async ({ params: { hostId }, body }) => {
    const { reason, detail = null, output = null } = body;
    await loseHost(parts, { hostId, to: 'gone', reason, detail, output });
    return respond(200, {});
  });

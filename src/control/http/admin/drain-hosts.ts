/** POST /drain */
import { drainHosts as operation } from '#wire/admin-api/operations.ts';
import { drain } from '../../admin/drain.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const drainHosts = (
  parts: Pick<Parts, 'db' | 'metrics' | 'notices' | 'placer' | 'tracer' | 'log'>,
) =>
  endpoint(operation, async ({ body }) => {
    const outcome = await drain(parts, body);
    parts.log.info({ ...body, drained: outcome.drained }, 'drained by an operator');
    return respond(200, outcome);
  });

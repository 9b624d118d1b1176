/** POST /world-sessions/{sessionId}/calls */
import { enqueueCall as operation } from '#wire/public-api/operations.ts';
import { enqueue } from '../../calls/enqueue.ts';
import { viewCall } from '../../calls/view.ts';
import { isOver } from '../../calls/wait.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { toMs } from '../waits.ts';

type Needs = Pick<Parts, 'callRate' | 'config' | 'db' | 'facts' | 'notices' | 'seats' | 'versions'>;

export const enqueueCall = (parts: Needs) =>
  endpoint(operation, async ({ params, query, headers, body }, { caller, signal }) => {
    const { projectId } = caller;
    const { sessionId } = params;
    const idempotencyKey = headers['idempotency-key'];
    const request = { projectId, sessionId, body, idempotencyKey };
    const call = await enqueue(parts, request, { ms: toMs(query.wait), signal });
    return respond(isOver(call) ? 200 : 202, viewCall(call));
  });

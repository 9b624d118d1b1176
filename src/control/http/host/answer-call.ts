/** POST /world-sessions/{sessionId}/calls/{callId}/answer */
import { answerCall as operation } from '#wire/host-api/operations.ts';
import { answer } from '../../calls/answer.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';

export const answerCall = (
  parts: Pick<Parts, 'db' | 'log' | 'metrics' | 'notices' | 'placer' | 'seats' | 'tracer'>,
) =>
  endpoint(operation, async ({ params, body }, { caller: { hostId }, signal }) => {
    const host = { sessionId: params.sessionId, hostId, generation: body.generation };
    const given = { callId: params.callId, ...body.answer };
    const hold = { seconds: body.hold, isFinal: body.final === true, signal };
    return respond(200, await answer(parts, host, given, hold));
  });

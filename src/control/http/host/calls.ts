/** Endpoints by which a host polls for the calls of its session and answers them. */
import * as api from '#wire/host-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { answer } from '../../sessions/calls/answer.ts';
import { nextDirective } from '../../sessions/calls/directive.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

export const callEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.pollCalls, async ({ params, query }, { caller: { hostId }, signal }) => {
    const host = { ...params, hostId, generation: query.generation };
    const hold = { seconds: query.hold, isFinal: query.final === true, signal };
    return respond(200, await nextDirective(parts, host, hold));
  }),

  endpoint(api.answerCall, async ({ params, body }, { caller: { hostId }, signal }) => {
    const host = { sessionId: params.sessionId, hostId, generation: body.generation };
    const given = { callId: params.callId, ...body.answer };
    const hold = { seconds: body.hold, isFinal: body.final === true, signal };
    return respond(200, await answer(parts, host, given, hold));
  }),
];

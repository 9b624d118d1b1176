/** Endpoints of the sender API, which senders of webhooks call below `/api/sender`. */
import * as api from '#wire/sender-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { holdUntil, toMs } from '../../platform/notifications/held-requests.ts';
import { pushesTopic } from '../../platform/notifications/notifications.ts';
import { claim, report, takeBack } from '../../sessions/webhooks/pushes.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

export const senderEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.claimPushes, async ({ body }, { signal }) => {
    const name = { claim: body.claim, round: body.round ?? null };
    await takeBack(parts, name, body.heard);
    // Nothing is claimed for a sender that has disconnected: the claimed deliveries would wait until it reports again.
    const look = async () => (signal.aborted ? [] : claim(parts, name, body.most));
    const held = { topic: pushesTopic, ms: toMs(body.hold), signal, look };
    return respond(200, { pushes: (await holdUntil(parts.notifications, held)) ?? [] });
  }),

  endpoint(api.reportPushes, async ({ body }) =>
    respond(200, { recorded: await report(parts, body.claim, body.reports) }),
  ),
];

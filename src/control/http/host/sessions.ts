/** Endpoints by which a host reports on the session that it serves. */
import { cut } from '#domain/cut.ts';
import * as api from '#wire/host-api/operations.ts';
import { findHostWork } from '../../db/sessions/hosts.ts';
import { noteLostEntries } from '../../db/sessions/lost-entries.ts';
import { insertRequests } from '../../db/sessions/requests.ts';
import { consumeLink } from '../../db/sessions/routes.ts';
import type { Parts } from '../../parts.ts';
import { hashSecretKey } from '../../platform/tokens/tokens.ts';
import { staleHost } from '../../sessions/calls/directive.ts';
import { closeAndPoll } from '../../sessions/hosts/closed.ts';
import { reportClosed } from '../../sessions/lifecycle/close.ts';
import { reportFailed, reportReady } from '../../sessions/lifecycle/ready.ts';
import { noteArrived } from '../../sessions/webhooks/arrivals.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

/**
 * Maximum length of the text of a failure that a host reports, in characters. Clients get the text with the session,
 * also in lists of sessions.
 */
const mostChars = 4_000;

export const servedSessionEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.reportReady, async ({ params, body }, { caller: { hostId }, signal }) => {
    const { generation, steps = [], recycles = true } = body;
    const { bundle, stateDigest } = body.holding;
    const holding = { bundle, stateDigest: recycles ? stateDigest : null };
    const host = { ...params, hostId, generation };
    const hold = { seconds: body.hold, isFinal: false, signal };
    return respond(200, await reportReady(parts, host, { holding, steps, hold }));
  }),

  endpoint(api.reportFailed, async ({ params, body }, { caller: { hostId } }) => {
    const { generation, code } = body;
    const message = cut(body.message, mostChars);
    await reportFailed(parts, { ...params, hostId, generation }, { code, message });
    return respond(200, {});
  }),

  endpoint(api.consumeEntry, async ({ params, body }, { caller: { hostId } }) => {
    const { sessionId } = params;
    const { generation, surface, token } = body;
    const work = await findHostWork(parts.db, hostId);
    if (work?.session?.id !== sessionId || work.generation !== generation) {
      throw staleHost({ sessionId, hostId, generation });
    }
    // Links into a browser are consumed by the browser's host alone, and no world's code gets their tokens.
    const isItsOwn = (surface === 'browser') === (work.kind === 'browser');
    const link = { sessionId, surface, tokenHash: hashSecretKey(token) };
    const opens = isItsOwn ? await consumeLink(parts.db, link) : undefined;
    return respond(200, {
      accepted: opens !== undefined,
      ...(opens === undefined ? {} : { opens }),
    });
  }),

  // `base/bodies/ledger-entry.ts` has parsed the entries.
  endpoint(api.deliverRequests, async ({ params, body }, { caller: { hostId } }) => {
    const host = { ...params, hostId, generation: body.generation };
    if (!(await insertRequests(parts.db, host, body.entries))) throw staleHost(host);
    await noteArrived(parts, params.sessionId, body.entries);
    return respond(200, {});
  }),

  endpoint(api.reportClosed, async ({ params, body }, { caller, signal }) => {
    const { hostId, source } = caller;
    const { hold, recycled, lost } = body;
    const host = { ...params, hostId, generation: body.generation };
    if (lost !== undefined) {
      await parts.db.transaction((tx) => noteLostEntries(tx, { ...params, ...lost, hostId }));
    }
    if (recycled !== undefined) {
      const report = { ...recycled, entries: body.entries, source };
      return respond(200, await closeAndPoll(parts, host, report, { hold, signal }));
    }
    const closed = await reportClosed(parts, host, body.entries);
    await noteArrived(parts, params.sessionId, body.entries);
    return respond(200, closed);
  }),
];

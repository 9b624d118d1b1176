/** Endpoints by which the host of a browser reports on the session that it serves. */
import * as api from '#wire/host-api/operations.ts';
import type { Parts } from '../../parts.ts';
import {
  noteCheckpoint,
  pollBrowser,
  reportBrowserClosed,
  reportBrowserReady,
} from '../../sessions/browsers/serve.ts';
import { keepPart } from '../../sessions/recordings/keep.ts';
import { type Endpoint, endpoint, respond } from '../server/endpoint.ts';

export const browserEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.reportBrowserReady, async ({ params, body }, { caller: { hostId } }) => {
    const { generation, address } = body;
    await reportBrowserReady(parts, { ...params, hostId, generation }, address);
    return respond(200, {});
  }),

  endpoint(api.keepCheckpoint, async ({ params, body }, { caller: { hostId } }) => {
    await noteCheckpoint(parts, { ...params, hostId, ...body });
    return respond(200, {});
  }),

  endpoint(api.keepRecording, async ({ params, body }, { caller: { hostId } }) =>
    respond(200, await keepPart(parts, { ...params, hostId, ...body })),
  ),

  endpoint(api.pollBrowser, async ({ params, query }, { caller: { hostId }, signal }) => {
    const { generation, hold: seconds } = query;
    const browser = { ...params, hostId, generation };
    return respond(200, await pollBrowser(parts, browser, { seconds, signal }));
  }),

  endpoint(api.reportBrowserClosed, async ({ params, body }, { caller: { hostId } }) => {
    const browser = { ...params, hostId, generation: body.generation };
    return respond(200, await reportBrowserClosed(parts, browser));
  }),
];

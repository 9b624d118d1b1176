/** POST /hosts/{hostId}/poll */
import { pollHost as operation } from '#wire/host-api/operations.ts';
import { type PollParts, poll } from '../../hosts/poll.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

export const pollHost = (parts: PollParts) =>
  endpoint(operation, async ({ params, body }, { caller, signal }) => {
    const hostId = checkHost(caller, params.hostId);
    const { generation, hold } = body;
    return respond(200, await poll(parts, { hostId, generation, hold, signal }));
  });

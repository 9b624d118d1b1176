/** POST /hosts/{hostId}/poll */
import { pollHost as operation } from '#wire/host-api/operations.ts';
import { poll } from '../../hosts/poll.ts';
import type { Parts } from '../../parts.ts';
import { endpoint, respond } from '../endpoint.ts';
import { checkHost } from './own-host.ts';

type Needs = Pick<Parts, 'config' | 'db' | 'notices' | 'versions'>;

export const pollHost = (parts: Needs) =>
  endpoint(operation, async ({ params, body }, { caller, signal }) => {
    const hostId = checkHost(caller, params.hostId);
    const { generation, hold } = body;
    return respond(200, await poll(parts, { hostId, generation, hold, signal }));
  });

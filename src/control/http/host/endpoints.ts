/** Endpoints of the host API, which world hosts call below `/api/host`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { browserEndpoints } from './browsers.ts';
import { callEndpoints } from './calls.ts';
import { ownHostEndpoints } from './hosts.ts';
import { servedSessionEndpoints } from './sessions.ts';

export const hostEndpoints = (parts: Parts): Endpoint[] => [
  ...ownHostEndpoints(parts),
  ...servedSessionEndpoints(parts),
  ...callEndpoints(parts),
  ...browserEndpoints(parts),
];

/** Endpoints of the pool API, which orchestrators call below `/api/pool`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { hostEndpoints } from './hosts.ts';
import { poolsEndpoints } from './pools.ts';

export const poolEndpoints = (parts: Parts): Endpoint[] => [
  ...poolsEndpoints(parts),
  ...hostEndpoints(parts),
];

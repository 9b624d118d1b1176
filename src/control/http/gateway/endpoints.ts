/** The gateway API: what is served to gateways below `/api/gateway`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../endpoint.ts';
import { consumeLink } from './consume-link.ts';
import { followRoutes } from './follow-routes.ts';
import { resolveRoute } from './resolve-route.ts';

export const gatewayEndpoints = (parts: Parts): Endpoint[] =>
  [resolveRoute, followRoutes, consumeLink].map((make) => make(parts));

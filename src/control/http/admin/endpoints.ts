/** The admin API: what is served to operators below `/api/admin`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../endpoint.ts';
import { checkBlobs } from './check-blobs.ts';
import { drainHosts } from './drain-hosts.ts';
import { examine } from './examine.ts';
import { listHosts } from './list-hosts.ts';
import { listPools } from './list-pools.ts';

export const adminEndpoints = (parts: Parts): Endpoint[] =>
  [listPools, listHosts, drainHosts, examine, checkBlobs].map((make) => make(parts));

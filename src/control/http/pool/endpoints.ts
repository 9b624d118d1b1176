/** The pool API: what is served to orchestrators below `/api/pool`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../endpoint.ts';
import { acquireLease } from './acquire-lease.ts';
import { drainHost } from './drain-host.ts';
import { loadHost } from './load-host.ts';
import { observePool } from './observe-pool.ts';
import { publishPools } from './publish-pools.ts';
import { readPoolsFile } from './read-pools-file.ts';
import { reap } from './reap.ts';
import { registerHost } from './register-host.ts';
import { reportGone } from './report-gone.ts';
import { reportLaunched } from './report-launched.ts';

export const poolEndpoints = (parts: Parts): Endpoint[] =>
  [
    observePool,
    acquireLease,
    publishPools,
    readPoolsFile,
    registerHost,
    reportLaunched,
    loadHost,
    drainHost,
    reportGone,
    reap,
  ].map((make) => make(parts));

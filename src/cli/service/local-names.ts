/**
 * Resolves names below `localhost`, which are the host names of sessions behind a local gateway. Not every system
 * resolves them.
 */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Resolves names as Node does. Names below `localhost` always lead to this machine, whatever a resolver answers (RFC
 * 6761).
 */
export const lookupLocally: LookupFunction = (hostname, options, done) =>
  lookup(/\.localhost$/i.test(hostname) ? 'localhost' : hostname, options, done);

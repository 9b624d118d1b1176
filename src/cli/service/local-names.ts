/** Resolves names below `localhost`, which sessions behind a local gateway have. Not every system resolves them. */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Looks names up as Node does. Names below `localhost` are always this machine, whatever a resolver answers (RFC
 * 6761).
 */
export const lookupLocally: LookupFunction = (hostname, options, done) =>
  lookup(/\.localhost$/i.test(hostname) ? 'localhost' : hostname, options, done);

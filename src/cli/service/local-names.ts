/** Names below `localhost`, which sessions behind a gateway of this machine have, and not every system resolves. */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Looks names up as Node does, but those below `localhost` are this machine, whatever a resolver says (RFC 6761). */
export const lookupLocally: LookupFunction = (hostname, options, done) =>
  lookup(/\.localhost$/i.test(hostname) ? 'localhost' : hostname, options, done);

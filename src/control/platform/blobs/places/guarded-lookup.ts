/**
 * Resolves names for a client that connects by itself: to public addresses alone, of which the client connects to one
 * that was looked at here. An address in place of a name is not resolved, so whoever takes one looks at it before.
 */
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { findAddresses } from '#egress/connect.ts';
import type { Resolve } from '#egress/resolve.ts';

const resolveMs = 5_000;

/** Makes it. */
export const guardedLookup =
  (resolve: Resolve): LookupFunction =>
  (host, options, done) => {
    const receiver = { host, isAddress: false, href: '', target: '' };
    findAddresses(receiver, resolve, AbortSignal.timeout(resolveMs)).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        const [first] = found;
        if (options.all === true || first === undefined) done(null, found);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, ''),
    );
  };

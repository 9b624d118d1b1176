/**
 * DNS lookup for clients that open connections themselves. It returns only public addresses, so the client can connect
 * to no other. IP literals bypass the lookup; callers must check them separately.
 */
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { findAddresses } from '#egress/connect.ts';
import type { Resolve } from '#egress/resolve.ts';

const resolveMs = 5_000;

/** Creates a lookup function that returns only public addresses. */
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

/**
 * Resolves the names of receivers by DNS alone. Neither the hosts file nor the search domains of this machine add
 * names. It does not use the thread pool behind Node's usual lookup either, because one slow name could block that pool
 * for all other work.
 */
import { Resolver } from 'node:dns/promises';

/** Returns all addresses of a name, as text; an empty list if the name has none. Throws if no DNS server answered. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

/** Timeout of one DNS query, in milliseconds, and the number of tries of each query. */
const questionMs = 2_000;
const tries = 2;

/** DNS error codes which mean that the name has no address. */
const nothing = new Set(['ENODATA', 'ENOTFOUND']);

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** Queries the DNS servers that this machine is configured with. */
export const resolveByDns: Resolve = async (name, signal) => {
  const resolver = new Resolver({ timeout: questionMs, tries });
  const give = () => resolver.cancel();
  signal.addEventListener('abort', give, { once: true });
  try {
    const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (found.length > 0) return found;
    const failed = asked.find(
      (each) => each.status === 'rejected' && !nothing.has(String(codeOf(each.reason))),
    );
    if (failed?.status === 'rejected') throw failed.reason;
    return [];
  } finally {
    signal.removeEventListener('abort', give);
  }
};

/**
 * Resolves the names of receivers: by the DNS alone, so that neither the files of this machine nor its search
 * domains add names of their own, and without the few threads that the usual look-up shares with everything else,
 * which one slow name would hold up.
 */
import { Resolver } from 'node:dns/promises';

/** All addresses of a name, as text; empty when it has none. Throws when nobody answered. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

/** One question to one server, and how often it is asked. */
const questionMs = 2_000;
const tries = 2;

/** Answers of the DNS that say that there is nothing. */
const nothing = new Set(['ENODATA', 'ENOTFOUND']);

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** Asks the servers that this machine is configured with. */
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

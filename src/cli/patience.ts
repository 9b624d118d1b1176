/**
 * A client that gives up a service which takes a request and then says nothing. It is for requests that
 * are answered at once; those that hold their answer take as long as they hold it.
 */
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';

/** A client whose answers come within so many milliseconds; else it throws `unavailable`. */
export const answeringWithin = (client: Client, patienceMs: number): Client => ({
  baseUrl: client.baseUrl,
  async send(shape, input) {
    const late = AbortSignal.timeout(patienceMs);
    const signal = input.signal === undefined ? late : AbortSignal.any([input.signal, late]);
    try {
      return await client.send(shape, { ...input, signal });
    } catch (error) {
      if (error !== late.reason) throw error;
      throw new AppError(
        'unavailable',
        `${client.baseUrl} took the request and did not answer within ${patienceMs / 1_000} s`,
        { detail: { hint: 'it hangs, or what is before it does: see its log, and restart it' } },
      );
    }
  },
});

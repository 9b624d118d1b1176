/**
 * Sends requests to the public API of a test's control plane as a client would, with a given `Authorization` header or
 * without one.
 */
import type { RawAnswer, TestControl } from './control.ts';

export type AskParts = { as?: string; body?: object; headers?: Record<string, string> };

/** Creates the function that sends requests. */
export const createAsker =
  (control: Pick<TestControl, 'raw'>) =>
  (method: string, path: string, { as, body, headers = {} }: AskParts = {}): Promise<RawAnswer> =>
    control.raw({
      method,
      path: `/api/public${path}`,
      headers: {
        ...(as === undefined ? {} : { authorization: as }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

/** Reads the body of a request within its limit. */
import type { IncomingMessage } from 'node:http';
import { limits } from '#domain/limits.ts';

/** The body as text, or undefined when it is over the limit; the rest is then read and dropped. */
export const readBody = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > limits.bodyBytes) {
      request.resume();
      return undefined;
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
};

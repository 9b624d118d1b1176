/**
 * Resolves signed URLs. A URL of the service itself begins with the base address that the service knows, which may
 * differ from the client's (a forwarded port, another name). The signature is valid for both.
 */
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';

const ownPath = /\/api\/blobs\/[0-9a-f]{64}\?.*$/;

/** Returns the URL to use from this machine. */
export const addressFrom = ({ baseUrl }: Client, given: string): URL => {
  const own = ownPath.exec(given)?.[0];
  return new URL(own === undefined ? given : `${baseUrl.replace(/\/api\/public$/, '')}${own}`);
};

/** Downloads the rejected rows of a batch as JSONL. */
export const readReport = async (client: Client, reportUrl: string): Promise<Uint8Array> => {
  const address = addressFrom(client, reportUrl);
  let answer: Response;
  try {
    answer = await fetch(address);
  } catch (cause) {
    throw new AppError('unavailable', `cannot read the report from ${address.origin}`, { cause });
  }
  if (answer.ok) return answer.bytes();
  throw new AppError('unavailable', `${address.origin} answered ${answer.status} for the report`);
};

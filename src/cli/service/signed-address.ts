/**
 * Addresses that the service signs for bytes. Those that it serves itself lie below its own address, which may not be
 * the one by which it is reached from here (a forwarded port, another name): the signature holds for either.
 */
import { AppError } from '#domain/error.ts';
import type { Client } from '#wire/client.ts';

const ownPath = /\/api\/blobs\/[0-9a-f]{64}\?.*$/;

/** Where an address is asked for from here. */
export const addressFrom = ({ baseUrl }: Client, given: string): URL => {
  const own = ownPath.exec(given)?.[0];
  return new URL(own === undefined ? given : `${baseUrl.replace(/\/api\/public$/, '')}${own}`);
};

/** The refusals of a batch, as JSONL. */
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

/** A push to the service: asks what it lacks, and sends only that. */
import { createHash } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Client } from '#wire/client.ts';
import { findMissingFiles, getVersion, pushVersion } from '#wire/public-api/operations.ts';
import type { PushBody, PushView } from '#wire/public-api/version.ts';

/** `<hex>` of some bytes. */
export const sha256Of = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

/** What a push is made from: the number that was given, the version that was noted, else the head. */
type Base = { number?: number | undefined; noted?: string | undefined };

export type PushRequest = {
  slug: string;
  tree: readonly TreeFile[];
  base: Base;
  options: Pick<PushBody, 'data' | 'message'>;
};

export type Pushed = { answer: PushView; sentFiles: number; sentBytes: number };

/** The number of the version that was noted; undefined when this service has no such version. */
const findNoted = async (
  client: Client,
  slug: string,
  noted: string | undefined,
): Promise<number | undefined> => {
  if (noted === undefined) return undefined;
  try {
    const params = { slug, version: noted };
    return (await client.send(getVersion, { params })).body.number;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
};

/** Pushes a tree; throws what the service refuses it for. */
export const pushTree = async (
  client: Client,
  { slug, tree, base, options }: PushRequest,
): Promise<Pushed> => {
  const params = { slug };
  const files = tree.map((file) => ({ ...file, sha256: sha256Of(file.content) }));
  const body = { sha256: [...new Set(files.map(({ sha256 }) => sha256))] };
  const { missing, head } = (await client.send(findMissingFiles, { params, body })).body;
  const wanted = new Set(missing);
  const number = base.number ?? (await findNoted(client, slug, base.noted)) ?? head.number;
  const sent = files.filter(({ sha256 }) => wanted.has(sha256));
  const { body: answer } = await client.send(pushVersion, {
    params,
    body: {
      ...options,
      base: number,
      files: files.map(({ path, content, sha256 }) => ({
        path,
        sha256,
        ...(wanted.has(sha256) ? { content: Buffer.from(content).toString('base64') } : {}),
      })),
    },
  });
  const sentBytes = sent.reduce((sum, { content }) => sum + content.byteLength, 0);
  return { answer, sentFiles: sent.length, sentBytes };
};

/** A push to the service: asks what it lacks, and sends only that. */
import type { TreeFile } from '#domain/world.ts';
import type { Client } from '#wire/client.ts';
import { findMissingFiles, pushVersion } from '#wire/public-api/operations.ts';
import type { PushBody, PushView } from '#wire/public-api/version.ts';
import { sha256Of } from '../files/digest.ts';
import { findNoted } from './versions.ts';

/** What a push is made from: the number that was given, the version that was noted, else the head. */
type Base = { number?: number | undefined; noted?: string | undefined };

export type PushRequest = {
  slug: string;
  tree: readonly TreeFile[];
  base: Base;
  options: Pick<PushBody, 'data' | 'message'>;
};

export type Pushed = { answer: PushView; sentFiles: number; sentBytes: number };

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
  const number = base.number ?? (await findNoted(client, slug, base.noted))?.number ?? head.number;
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

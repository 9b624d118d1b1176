/** Pushes a tree: asks the service which files it lacks, and sends only those. */
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Client } from '#wire/client.ts';
import { findMissingFiles, pushVersion } from '#wire/public-api/operations.ts';
import type { PushBody, PushView } from '#wire/public-api/worlds/version.ts';
import type { NotedBase } from '../files/base-note.ts';
import { sha256Of } from '../files/digest.ts';
import { findNoted } from './versions.ts';

/** Base version of a push: the given number, or else the version recorded in the folder, or else the head. */
type Base = { number?: number | undefined; noted(slug: string): NotedBase };

export type PushRequest = {
  slug: string;
  tree: readonly TreeFile[];
  base: Base;
  options: Pick<PushBody, 'data' | 'message'>;
};

export type Pushed = { answer: PushView; sentFiles: number; sentBytes: number };

/** Maximum number of records under other slugs that are checked, in case the world was renamed since. */
const mostOthers = 20;

type Head = { slug: string; number: number };

const refuseBase = (what: string, { slug, number }: Head): AppError =>
  new AppError('conflict', `${what}, so the version that the folder is based on is unknown`, {
    detail: {
      hint: `"svc worlds diff ${slug}@${number} <folder>" shows how the folder differs from the head; --base ${number} replaces the head anyway`,
    },
  });

const findBase = async (client: Client, { number, noted }: Base, head: Head): Promise<number> => {
  if (number !== undefined) return number;
  const base = noted(head.slug);
  if (base.kind === 'broken') throw refuseBase('.svc-base.json is damaged', head);
  if (base.kind === 'noted') {
    const version = await findNoted(client, head.slug, base.id);
    if (version !== undefined) return version.number;
    throw refuseBase(
      `the folder is recorded to contain ${base.id}, which is not a version of "${head.slug}" on this service`,
      head,
    );
  }
  for (const id of base.others.slice(0, mostOthers)) {
    const version = await findNoted(client, head.slug, id);
    if (version !== undefined) return version.number;
  }
  return head.number;
};

/** Pushes a tree. If the service refuses the push, throws its error. */
export const pushTree = async (
  client: Client,
  { slug, tree, base, options }: PushRequest,
): Promise<Pushed> => {
  const params = { slug };
  const files = tree.map((file) => ({ ...file, sha256: sha256Of(file.content) }));
  const body = { sha256: [...new Set(files.map(({ sha256 }) => sha256))] };
  const { missing, head, ...world } = (await client.send(findMissingFiles, { params, body })).body;
  const wanted = new Set(missing);
  const number = await findBase(client, base, { slug: world.slug, number: head.number });
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

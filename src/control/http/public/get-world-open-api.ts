/** GET /worlds/{slug}/openapi.json */
import { AppError } from '#domain/error.ts';
import { getWorldOpenApi as operation } from '#wire/public-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { findHead } from '../../worlds/head.ts';
import { endpoint, respond } from '../endpoint.ts';

const jsonType = 'application/json; charset=utf-8';

/** Whether a client that sends `If-None-Match` has this content already. */
const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*');

export const getWorldOpenApi = (parts: Pick<Parts, 'blobs' | 'db' | 'versions'>) =>
  endpoint(operation, async ({ params, headers: given }, { caller: { projectId } }) => {
    const { head } = await findHead(parts, projectId, params.slug);
    const digest = head.openApi;
    if (digest === undefined) {
      const message = `the world "${params.slug}" has no HTTP API: its connector.toml declares no routes`;
      throw new AppError('not_found', message);
    }
    const etag = `"${digest.slice('sha256:'.length)}"`;
    const headers = { etag, 'cache-control': 'private, no-cache' };
    if (isKnown(given['if-none-match'], etag)) return { ...respond(304, undefined), headers };
    // The document was made when the world was compiled; its bytes are sent as they are.
    const document = (await parts.blobs.get(digest)) as unknown as Record<string, unknown>;
    return { ...respond(200, document), headers: { ...headers, 'content-type': jsonType } };
  });

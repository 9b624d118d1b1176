/** GET /worlds/{slug}/openapi.json */
import { AppError } from '#domain/error.ts';
import { getWorldOpenApi as operation } from '#wire/public-api/operations.ts';
import type { Parts } from '../../parts.ts';
import { findHead } from '../../worlds/head.ts';
import { endpoint, respond } from '../endpoint.ts';

/** Whether a client that sends `If-None-Match` has this content already. */
const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*');

export const getWorldOpenApi = (parts: Pick<Parts, 'db' | 'versions'>) =>
  endpoint(operation, async ({ params, headers: given }, { caller: { projectId } }) => {
    const { head } = await findHead(parts, projectId, params.slug);
    const described = head.openApi();
    if (described === undefined) {
      const message = `the world "${params.slug}" has no HTTP API: its connector.toml declares no routes`;
      throw new AppError('not_found', message);
    }
    const { document, etag } = described;
    const headers = { etag, 'cache-control': 'private, no-cache' };
    return isKnown(given['if-none-match'], etag)
      ? { ...respond(304, undefined), headers }
      : { ...respond(200, document), headers };
  });

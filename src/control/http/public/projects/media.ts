/** Endpoints of media. */
import * as api from '#wire/public-api/operations.ts';
import { findMedia } from '../../../db/projects/media.ts';
import type { Parts } from '../../../parts.ts';
import { noMedia, reportMedia, requestMedia } from '../../../projects/files/media.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

export const mediaEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.requestMediaUpload, async ({ body }, { caller: { projectId } }) =>
    respond(201, await requestMedia(parts, projectId, body)),
  ),

  endpoint(api.getMedia, async ({ params: { mediaId } }, { caller: { projectId } }) => {
    const media = await findMedia(parts.db, projectId, mediaId);
    if (media === undefined || media.uploadedAt === null) throw noMedia();
    const { digest, contentType, bytes, uploadedAt } = media;
    const { url, expiresAt } = await parts.addresses.download(digest, {
      name: mediaId,
      contentType,
    });
    return respond(200, {
      ...{ mediaId, contentType, contentLength: bytes, url },
      uploadedAt: uploadedAt.toISOString(),
      urlExpiry: expiresAt.toISOString(),
    });
  }),

  endpoint(api.reportMediaUpload, async ({ params, body }, { caller: { projectId } }) => {
    await reportMedia(parts, projectId, params.mediaId, body);
    return respond(200, { message: 'OK' });
  }),
];

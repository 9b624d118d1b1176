/** Endpoint that exports a session as an archive. */
import * as api from '#wire/public-api/operations.ts';
import type { Parts } from '../../../parts.ts';
import { exportSession } from '../../../sessions/archives/export.ts';
import { type Endpoint, endpoint, respondStream } from '../../server/endpoint.ts';

export const exportEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.exportSession, async ({ params: { sessionId } }, { caller, signal }) => {
    const asked = { projectId: caller.projectId, sessionId };
    const { stream, bytes } = await exportSession(parts, asked, signal);
    return respondStream(stream, bytes, {
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="${sessionId}.tar.gz"`,
      'cache-control': 'private, no-store',
    });
  }),
];

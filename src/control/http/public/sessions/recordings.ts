/** Endpoints of the recordings of browsers in sessions. */
import * as api from '#wire/public-api/operations.ts';
import type { Parts } from '../../../parts.ts';
import { readVideo, viewRecording } from '../../../sessions/recordings/read.ts';
import { type Endpoint, endpoint, respond, respondStream } from '../../server/endpoint.ts';

export const recordingEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.getRecording, async ({ params: { sessionId } }, { caller: { projectId } }) =>
    respond(200, await viewRecording(parts, projectId, sessionId)),
  ),

  endpoint(api.getRecordingFilm, async ({ params: { sessionId } }, { caller: { projectId } }) => {
    const { stream, bytes } = await readVideo(parts, projectId, sessionId);
    return respondStream(stream, bytes, {
      'content-type': 'video/webm',
      'content-disposition': `attachment; filename="${sessionId}.webm"`,
      'cache-control': 'private, no-store',
    });
  }),
];

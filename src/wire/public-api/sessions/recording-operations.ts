/** Operations on the recording of a session's browser. */
import { recordingMarks } from '#domain/recording.ts';
import { getOperation } from '../../operation.ts';
import { Film, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const SessionParams = Type.Object({ sessionId: Type.String({ maxLength: 64 }) });

export const RecordingView = Type.Object({
  sessionId: Type.String(),
  beganAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'time of the first frame; null: the video has none',
    }),
  ),
  durationMs: Type.Integer(),
  pictures: Type.Integer(),
  bytes: Type.Integer({ description: 'size of the video in bytes' }),
  complete: Type.Boolean({
    description: 'true if the session has ended and no more frames will follow',
  }),
  cutAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'time at which the recording reached its size limit; null: it is complete',
    }),
  ),
  droppedAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'time at which the recording was deleted; null: it is still stored',
    }),
  ),
  marks: Type.Array(
    Type.Object({
      atMs: Type.Integer({ description: 'time from the start of the video' }),
      at: Timestamp,
      what: oneOf(
        recordingMarks,
        'kind of the mark: start; reset: the browser got a fresh profile; restored: Chromium was restarted after a crash; reclaimed: another browser took over',
      ),
    }),
  ),
});
export type RecordingView = Static<typeof RecordingView>;

export const getRecording = getOperation({
  id: 'getRecording',
  summary:
    "The recording of a session's browser, with the time at which each of its chapters begins",
  path: '/world-sessions/{sessionId}/recording',
  access: 'write',
  tools: [{ name: 'get_world_session_recording' }],
  params: SessionParams,
  answer: RecordingView,
});

export const getRecordingFilm = getOperation({
  id: 'getRecordingFilm',
  summary: "The video of a session's browser so far: WebM, with a chapter for each mark",
  path: '/world-sessions/{sessionId}/recording/film',
  access: 'write',
  params: SessionParams,
  answer: Film,
});

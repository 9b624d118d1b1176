/** Operations on the recording of a session's browser. */
import { recordingMarks } from '#domain/recording.ts';
import { operation } from '../../operation.ts';
import { Film, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const SessionParams = Type.Object({ sessionId: Type.String({ maxLength: 64 }) });

export const RecordingView = Type.Object({
  sessionId: Type.String(),
  beganAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'when its first picture was taken; null: there is none',
    }),
  ),
  durationMs: Type.Integer(),
  pictures: Type.Integer(),
  bytes: Type.Integer({ description: 'of the film' }),
  complete: Type.Boolean({ description: 'whether the session has ended and nothing is to come' }),
  cutAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'when there was no room for more; null: it is whole',
    }),
  ),
  droppedAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'when it was given up, some time after the session; null: it is kept',
    }),
  ),
  marks: Type.Array(
    Type.Object({
      atMs: Type.Integer({ description: 'from the begin of the film' }),
      at: Timestamp,
      what: oneOf(
        recordingMarks,
        'start; reset: a fresh profile; restored: Chromium was lost and came back; reclaimed: another browser took over',
      ),
    }),
  ),
});
export type RecordingView = Static<typeof RecordingView>;

export const getRecording = operation({
  id: 'getRecording',
  summary: "What there is of the recording of a session's browser, and where in it what began",
  method: 'GET',
  path: '/world-sessions/{sessionId}/recording',
  access: 'write',
  tools: [{ name: 'get_world_session_recording' }],
  params: SessionParams,
  answers: { 200: RecordingView },
});

export const getRecordingFilm = operation({
  id: 'getRecordingFilm',
  summary:
    "The recording of a session's browser as far as it is there: WebM, with a chapter for each mark",
  method: 'GET',
  path: '/world-sessions/{sessionId}/recording/film',
  access: 'write',
  params: SessionParams,
  answers: { 200: Film },
});

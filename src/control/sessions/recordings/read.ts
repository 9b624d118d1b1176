/** Shows and streams the recording of a session. The video is assembled from the stored parts while it is sent. */
import { Readable } from 'node:stream';
import { AppError } from '#domain/error.ts';
import { type RecordingMark, recordingLimits } from '#domain/recording.ts';
import type { RecordingView } from '#wire/public-api/sessions/recording-operations.ts';
import { isServedByBrowser } from '../../db/sessions/browsers.ts';
import {
  findRecording,
  listParts,
  type Recording,
  type RecordingPart,
} from '../../db/sessions/recordings.ts';
import type { SessionRow } from '../../db/sessions/session-row.ts';
import { findSession, noSession } from '../../db/sessions/sessions.ts';
import type { SessionParts } from '../parts.ts';
import { type Chapter, clusterHead, type Video, videoHeader } from './webm.ts';

/** Duration for which the last picture is shown, in milliseconds. */
const lastMs = 1_000;

type Found = { session: SessionRow; recording: Recording; parts: RecordingPart[] };

const find = async ({ db }: SessionParts, projectId: string, sessionId: string): Promise<Found> => {
  const session = await findSession(db, projectId, sessionId);
  if (session === undefined) throw noSession(sessionId);
  const recording = await findRecording(db, sessionId);
  if (recording === undefined) {
    throw new AppError(
      'not_found',
      `${sessionId} was opened without a recording; ask for one with "browserRecording" (svc worlds session open --record)`,
    );
  }
  return { session, recording, parts: await listParts(db, sessionId) };
};

const durationOf = (parts: readonly RecordingPart[]): number => {
  const last = parts.at(-1);
  return last === undefined ? 0 : last.endMs + lastMs;
};

const titles: Record<RecordingMark, string> = {
  start: 'Start',
  reset: 'Reset: a fresh profile',
  restored: 'The browser was lost and replaced',
  reclaimed: 'Another browser took over',
};

const chaptersOf = ({ cutAt, beganAt }: Recording, parts: readonly RecordingPart[]): Chapter[] => {
  const marked = parts.flatMap(({ startMs, mark }) =>
    mark === null ? [] : [{ startMs, title: titles[mark] }],
  );
  const last = parts.at(-1);
  if (cutAt === null || beganAt === null || last === undefined) return marked;
  return [
    ...marked,
    { startMs: last.endMs, title: `Cut off at ${cutAt.toISOString()}: the size limit is reached` },
  ];
};

const videoOf = (recording: Recording, parts: readonly RecordingPart[]): Video => ({
  width: recordingLimits.width,
  height: recordingLimits.height,
  beganAt: recording.beganAt ?? new Date(0),
  durationMs: durationOf(parts),
  parts,
  chapters: chaptersOf(recording, parts),
});

/** Returns the view of a recording. Throws `not_found` if the session was opened without a recording. */
export const viewRecording = async (
  all: SessionParts,
  projectId: string,
  sessionId: string,
): Promise<RecordingView> => {
  const { session, recording, parts } = await find(all, projectId, sessionId);
  const { beganAt, pictures, cutAt, droppedAt } = recording;
  const isOpen = session.closedAt === null || (await isServedByBrowser(all.db, sessionId));
  return {
    sessionId,
    beganAt: beganAt?.toISOString() ?? null,
    durationMs: durationOf(parts),
    pictures: droppedAt === null ? pictures : 0,
    bytes: parts.length === 0 ? 0 : videoHeader(videoOf(recording, parts)).totalBytes,
    complete: !isOpen,
    cutAt: cutAt?.toISOString() ?? null,
    droppedAt: droppedAt?.toISOString() ?? null,
    marks: parts.flatMap(({ startMs, mark }) => {
      if (mark === null || beganAt === null) return [];
      const at = new Date(beganAt.getTime() + startMs).toISOString();
      return [{ atMs: startMs, at, what: mark }];
    }),
  };
};

/** Builds the error for a recording that has no video. */
const lackOf = (sessionId: string, { droppedAt }: Recording): AppError =>
  droppedAt === null
    ? new AppError(
        'not_found',
        `the recording of ${sessionId} has no picture yet: the browser of the session has shown nothing`,
      )
    : new AppError(
        'not_found',
        `the recording of ${sessionId} was deleted on ${droppedAt.toISOString()}: recordings are deleted ${recordingLimits.keptDays} days after the end of their session`,
      );

/** Returns the video as a stream, with its size. Throws `not_found` if there is no video. */
export const readVideo = async (
  all: SessionParts,
  projectId: string,
  sessionId: string,
): Promise<{ stream: Readable; bytes: number }> => {
  const { recording, parts } = await find(all, projectId, sessionId);
  if (parts.length === 0) throw lackOf(sessionId, recording);
  const { head, totalBytes } = videoHeader(videoOf(recording, parts));
  const write = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    for (const part of parts) {
      yield clusterHead(part);
      yield await all.blobs.get(part.digest);
    }
  };
  return { stream: Readable.from(write(), { objectMode: false }), bytes: totalBytes };
};

/**
 * Stores the recording of a browser, part by part. A compromised browser could send anything, so each part is checked:
 * it must consist of key frames of the right size, in order, and stay within the size limit of a recording.
 */
import { AppError } from '#domain/error.ts';
import { type RecordingMark, recordingLimits } from '#domain/recording.ts';
import type { RecordedPicture } from '#wire/host-api/browser-operations.ts';
import { findBrowserState } from '../../db/sessions/browsers.ts';
import type { SessionHost } from '../../db/sessions/calls.ts';
import {
  addPart,
  cutRecording,
  dropRecording,
  findSpentRecording,
  hasPart,
  listPartDigests,
  lockRecording,
  markStored,
  type Recording,
} from '../../db/sessions/recordings.ts';
import { digestOf } from '../../platform/blobs/blobs.ts';
import { staleHost } from '../calls/directive.ts';
import type { SessionParts } from '../parts.ts';
import { blocksOf, type Frame, isKeyFrameOf } from './webm.ts';

export type SentPart = SessionHost & {
  number: number;
  beganAtMs: number;
  mark: RecordingMark | null;
  pictures: readonly RecordedPicture[];
};

const invalid = (index: number, message: string): AppError =>
  new AppError('invalid', `picture ${index}: ${message}`, {
    fields: [{ path: ['pictures', String(index)], message }],
  });

const readFrames = (pictures: readonly RecordedPicture[]): Frame[] => {
  let last = -1;
  return pictures.map(({ afterMs, data }, index) => {
    const frame = { afterMs, data: Buffer.from(data, 'base64') };
    if (!isKeyFrameOf(frame.data, recordingLimits)) {
      const { width, height } = recordingLimits;
      throw invalid(index, `is no VP8 key frame of ${width} × ${height}`);
    }
    if (afterMs <= last) throw invalid(index, 'is not later than the picture before it');
    last = afterMs;
    return frame;
  });
};

/**
 * Returns the start time of a part. It is never before the end of the stored parts, whatever the browser's clock says.
 */
const startOf = ({ beganAt, endMs, nextPart }: Recording, beganAtMs: number): number => {
  if (beganAt === null || nextPart === 0) return 0;
  return Math.max(endMs + 1, beganAtMs - beganAt.getTime());
};

/**
 * Stores a part. Returns true if the recording has reached its size limit and is cut off: then neither this part nor a
 * later one is stored.
 * @throws `conflict` if the browser does not serve the session, `invalid` if the pictures are not valid.
 */
export const keepPart = async (
  { blobs, db }: SessionParts,
  { sessionId, hostId, generation, ...part }: SentPart,
): Promise<{ isCut: boolean }> => {
  const frames = readFrames(part.pictures);
  const blocks = blocksOf(frames, `${sessionId} ${part.number}`);
  const [bytes, digest] = [blocks.byteLength, digestOf(blocks)];
  const outcome = await db.transaction(async (tx) => {
    const browser = { sessionId, hostId, generation };
    if ((await findBrowserState(tx, browser)) === undefined) throw staleHost(browser);
    const recording = await lockRecording(tx, sessionId);
    if (recording === undefined) {
      throw new AppError('conflict', `${sessionId} was opened without a recording`);
    }
    if (part.number < recording.nextPart) {
      const isThere = await hasPart(tx, { sessionId, number: part.number, digest });
      return isThere ? 'there' : 'over';
    }
    if (recording.cutAt !== null || recording.bytes + bytes > recordingLimits.bytes) {
      await cutRecording(tx, sessionId);
      return 'cut';
    }
    const startMs = startOf(recording, part.beganAtMs);
    await addPart(tx, {
      ...{ sessionId, number: part.number, startMs, bytes, mark: part.mark },
      beganAt: recording.beganAt ?? new Date(part.beganAtMs),
      endMs: startMs + (frames.at(-1)?.afterMs ?? 0),
      pictures: frames.length,
      digest,
    });
    return 'added';
  });
  if (outcome === 'cut') return { isCut: true };
  if (outcome === 'over') return { isCut: false };
  // The first attempt of a repeated request may not have stored the bytes.
  await blobs.put(blocks);
  await markStored(db, { sessionId, number: part.number });
  return { isCut: false };
};

/** Deletes the pictures of one recording whose retention period is over. */
export const dropOldRecording = async ({ blobs, db, log }: SessionParts): Promise<void> => {
  const sessionId = await findSpentRecording(db, recordingLimits.keptDays);
  if (sessionId === undefined) return;
  const digests = await listPartDigests(db, sessionId);
  for (const digest of digests) await blobs.remove(digest);
  await dropRecording(db, sessionId);
  log.info({ sessionId, parts: digests.length }, 'removed an old recording');
};

/**
 * Sends the recording of a session to the control plane. Pictures are gathered into parts, and the parts are sent one
 * after the other, each until it is stored. Parts that cannot be sent wait in a bounded queue; pictures beyond the
 * bound are dropped and counted.
 */
import { AppError } from '#domain/error.ts';
import { recordingLimits } from '#domain/recording.ts';
import { isStale } from '#hosting/link.ts';
import type { Log } from '#runtime/log.ts';
import { pause as pauseFor } from '#runtime/pause.ts';
import type { RecordedPicture } from '../record/recorder.ts';

/** Part of a recording as it is sent; its pictures are in base64. */
export type SentPart = {
  number: number;
  beganAtMs: number;
  mark: RecordedPicture['mark'];
  pictures: { afterMs: number; data: string }[];
};

export type Recording = {
  add(picture: RecordedPicture): void;
  /** Sends the remaining parts, for at most `patienceMs`, and accepts no more pictures. */
  stop(patienceMs: number): Promise<void>;
};

export type RecordingOptions = {
  /** Number of the first part. */
  next: number;
  /**
   * Sends a part to be stored; resolves with true if the recording has used up its size budget. Throws if the part was
   * not accepted.
   */
  send(part: SentPart, signal: AbortSignal): Promise<boolean>;
  /** Called once, when the recording is cut because its size budget is used up. */
  onCut(): void;
  log: Log;
  /** Waits before the next attempt; tests replace it to control time. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
};

const mostWaiting = 16;
const againMs = 1_000;

type Part = SentPart & { bytes: number };

/** Starts a recording, which accepts pictures from now on. */
export const openRecording = (options: RecordingOptions): Recording => {
  const { next, send, onCut, log, pause = pauseFor } = options;
  let number = next;
  let part: Part | undefined;
  let timer: NodeJS.Timeout | undefined;
  let leftOut = 0;
  let isOver = false;
  let sending: Promise<void> | undefined;
  const waiting: Part[] = [];
  const givenUp = new AbortController();

  const end = (): void => {
    isOver = true;
    clearTimeout(timer);
    part = undefined;
    waiting.length = 0;
  };

  /** Tries once to send a part. A part leaves the queue if it was accepted or can never be. */
  const tryOne = async ({ bytes: _, ...one }: Part): Promise<void> => {
    try {
      const isCut = await send(one, givenUp.signal);
      waiting.shift();
      if (!isCut || isOver) return;
      end();
      onCut();
    } catch (error) {
      if (isStale(error)) return end();
      if (error instanceof AppError && error.code === 'invalid') {
        leftOut += one.pictures.length;
        waiting.shift();
      }
      log.warn({ err: error, part: one.number }, 'a part of a recording could not be uploaded');
      await pause(againMs, givenUp.signal);
    }
  };

  const sendAll = async (): Promise<void> => {
    for (let one = waiting[0]; one !== undefined && !givenUp.signal.aborted; one = waiting[0]) {
      await tryOne(one);
    }
    sending = undefined;
  };

  const finish = (): void => {
    clearTimeout(timer);
    if (part === undefined) return;
    waiting.push(part);
    part = undefined;
    sending ??= sendAll();
  };

  const isFull = ({ bytes, pictures }: Part): boolean =>
    bytes >= recordingLimits.partBytes || pictures.length >= recordingLimits.partPictures;

  /** Returns the part that a picture belongs to, starting a new one if necessary; undefined if the queue is full. */
  const partFor = ({ atMs, mark }: RecordedPicture): Part | undefined => {
    const isOther = mark !== null || atMs - (part?.beganAtMs ?? atMs) >= recordingLimits.partMs;
    if (part !== undefined && (isOther || atMs < part.beganAtMs)) finish();
    if (part !== undefined) return part;
    if (waiting.length >= mostWaiting) return undefined;
    part = { number, beganAtMs: atMs, mark, pictures: [], bytes: 0 };
    number += 1;
    timer = setTimeout(finish, recordingLimits.partMs);
    return part;
  };

  return {
    add(picture) {
      if (isOver) return;
      const { atMs, data } = picture;
      const into = data.byteLength > recordingLimits.pictureBytes ? undefined : partFor(picture);
      if (into === undefined) {
        leftOut += 1;
        return;
      }
      const last = into.pictures.at(-1)?.afterMs ?? -1;
      const afterMs = Math.max(last + 1, atMs - into.beganAtMs);
      into.pictures.push({ afterMs, data: Buffer.from(data).toString('base64') });
      into.bytes += data.byteLength;
      if (isFull(into)) finish();
    },
    async stop(patienceMs) {
      finish();
      const late = setTimeout(() => givenUp.abort(), patienceMs);
      await sending;
      clearTimeout(late);
      isOver = true;
      leftOut += waiting.reduce((sum, { pictures }) => sum + pictures.length, 0);
      if (leftOut > 0) log.warn({ pictures: leftOut }, 'pictures of a recording were dropped');
    },
  };
};

/**
 * Tests how a recording reaches the control plane: parts in order, each sent until it is stored, within a bounded
 * queue.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppError } from '#domain/error.ts';
import { recordingLimits } from '#domain/recording.ts';
import { createLog } from '#runtime/log.ts';
import type { RecordedPicture } from '../record/recorder.ts';
import { openRecording, type SentPart } from './recording.ts';

/** Pauses by the fake timers of this test, which do not replace those of `node:timers/promises`. */
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const picture = (atMs: number, more: Partial<RecordedPicture> = {}): RecordedPicture => ({
  ...{ atMs, mark: null, data: Buffer.from(`at ${atMs}`) },
  ...more,
});

/** Sends to a control plane that answers as `answer` decides; a part is stored when `answer` resolves. */
const open = (answer: (part: SentPart) => Promise<boolean> = async () => false) => {
  const kept: SentPart[] = [];
  const said = { cuts: 0, tries: 0 };
  const recording = openRecording({
    next: 3,
    async send(part) {
      said.tries += 1;
      const isCut = await answer(part);
      kept.push(part);
      return isCut;
    },
    onCut: () => {
      said.cuts += 1;
    },
    log: createLog('browser', 'silent'),
    pause,
  });
  return { recording, kept, said };
};

const numbers = (parts: readonly SentPart[]): number[] => parts.map(({ number }) => number);

it('the recording is sent in parts of a few seconds, numbered on from the previous browser', async () => {
  const { recording, kept } = open();
  for (const atMs of [0, 400, 400, 5_100]) recording.add(picture(atMs));
  await vi.advanceTimersByTimeAsync(recordingLimits.partMs);
  expect(kept.map(({ number, beganAtMs, pictures }) => [number, beganAtMs, pictures])).toEqual([
    [
      3,
      0,
      [
        { afterMs: 0, data: Buffer.from('at 0').toString('base64') },
        { afterMs: 400, data: Buffer.from('at 400').toString('base64') },
        // No two pictures of a part have the same time.
        { afterMs: 401, data: Buffer.from('at 400').toString('base64') },
      ],
    ],
    [4, 5_100, [expect.objectContaining({ afterMs: 0 })]],
  ]);
});

it('the recording begins a new part at each mark, and when a part is full', async () => {
  const { recording, kept } = open();
  recording.add(picture(0, { mark: 'start' }));
  recording.add(picture(300, { mark: 'reset' }));
  const data = Buffer.alloc(recordingLimits.partBytes / 2);
  for (const atMs of [600, 900, 1_200]) recording.add(picture(atMs, { data }));
  await recording.stop(1_000);
  expect(kept.map(({ mark, pictures }) => [mark, pictures.length])).toEqual([
    ['start', 1],
    ['reset', 3],
    [null, 1],
  ]);
});

it('the recording is sent again until it is stored, in order', async () => {
  let isAway = true;
  const { recording, kept, said } = open(async () => {
    if (isAway) throw new AppError('unavailable', 'there is no answer');
    return false;
  });
  for (const atMs of [0, 6_000, 12_000]) recording.add(picture(atMs));
  await vi.advanceTimersByTimeAsync(10_000);
  expect([kept, said.tries > 3]).toEqual([[], true]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(numbers(kept)).toEqual([3, 4, 5]);
});

it("the recording drops parts beyond the queue's limit, and pictures that are too large", async () => {
  let isAway = true;
  const { recording, kept } = open(async () => {
    if (isAway) throw new AppError('unavailable', 'there is no answer');
    return false;
  });
  recording.add(picture(0, { data: Buffer.alloc(recordingLimits.pictureBytes + 1) }));
  for (let part = 0; part < 40; part += 1) recording.add(picture(part * 6_000));
  isAway = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(numbers(kept)).toEqual(Array.from({ length: 16 }, (_, index) => index + 3));
  recording.add(picture(300_000));
  await recording.stop(1_000);
  expect(numbers(kept).at(-1)).toBe(19);
});

it('the recording continues after a rejected part, and ends when another browser has taken over', async () => {
  const { recording, kept, said } = open(async ({ number }) => {
    if (number === 3) throw new AppError('invalid', 'no such part');
    if (number === 5) throw new AppError('conflict', 'another browser serves the session');
    return false;
  });
  for (const atMs of [0, 6_000, 12_000, 18_000]) recording.add(picture(atMs));
  await vi.advanceTimersByTimeAsync(10_000);
  expect([numbers(kept), said.tries]).toEqual([[4], 3]);
});

it('the recording ends when its size budget is used up, and logs this once', async () => {
  const { recording, kept, said } = open(async () => true);
  for (const atMs of [0, 6_000, 12_000]) recording.add(picture(atMs));
  await vi.advanceTimersByTimeAsync(10_000);
  expect([numbers(kept), said.cuts]).toEqual([[3], 1]);
});

it('the recording is abandoned at its end if no part is accepted within the time limit', async () => {
  const { recording, kept } = open(async () => {
    throw new AppError('unavailable', 'there is no answer');
  });
  recording.add(picture(0));
  const stopped = recording.stop(3_000);
  await vi.advanceTimersByTimeAsync(5_000);
  await stopped;
  expect(kept).toEqual([]);
});

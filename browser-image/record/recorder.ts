/**
 * Records what the browser shows: the front tab, whenever it has changed, at a bounded rate. It watches as a viewer
 * does, over a branch of its own, and encodes in another thread, so that neither the page nor its viewers wait for a
 * recording.
 */
import { describeError } from '#domain/error.ts';
import { type RecordingMark, recordingLimits } from '#domain/recording.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import type { Connection } from '../cdp/connection.ts';
import { openDriver } from '../cdp/driver.ts';
import { Screencast } from '../view/screencast.ts';
import type { Tabs } from '../watch/tabs.ts';
import { createEncoder, type Encoder } from './encoder.ts';

/** Picture of a recording: a VP8 key frame of the recording's size. */
export type RecordedPicture = {
  /** Time at which the picture was taken, in Unix milliseconds. */
  atMs: number;
  data: Uint8Array;
  /** Mark of the first picture of another browser or profile; null on all other pictures. */
  mark: RecordingMark | null;
};

export type RecorderOptions = {
  onPicture(picture: RecordedPicture): void;
  encoder?: Encoder;
  log: Log;
};

type Watched = { connection: Connection; tabs: Tabs };

export type Recorder = {
  /** Records this browser from now on, and no longer the previous one. */
  follow(browser: Watched, mark: RecordingMark): void;
  /** Stops recording, and resolves when all pictures have been handed on. */
  stop(): Promise<void>;
};

const { width: maxWidth, height: maxHeight, pictureMs } = recordingLimits;
const wanted = { quality: 80, maxWidth, maxHeight };
/**
 * Factor for the pause after a picture, as a multiple of its encoding time, so that a busy machine has time to serve
 * the page.
 */
const restTimes = 3;

type Seen = { atMs: number; jpeg: string; mark: RecordingMark | null };

/** Makes a recorder, which follows no browser yet. */
export const createRecorder = ({
  onPicture,
  log,
  encoder = createEncoder(),
}: RecorderOptions): Recorder => {
  let seen: Seen | undefined;
  let lastJpeg: string | undefined;
  let mark: RecordingMark | null = null;
  let leave: (() => void) | undefined;
  let work: Promise<void> | undefined;
  const hurry = new AbortController();

  const take = async ({ atMs, jpeg, mark: of }: Seen): Promise<void> => {
    try {
      onPicture({ atMs, data: await encoder.encode(jpeg), mark: of });
    } catch (error) {
      mark ??= of;
      log.warn({ error: describeError(error) }, 'a picture of a recording could not be made');
    }
  };

  const workOff = async (): Promise<void> => {
    while (seen !== undefined) {
      const next = seen;
      seen = undefined;
      const begunAt = performance.now();
      await take(next);
      const restMs = Math.max(pictureMs, restTimes * (performance.now() - begunAt));
      if (!hurry.signal.aborted) await pause(restMs, hurry.signal);
    }
    work = undefined;
  };

  const onFrame = (jpeg: string): void => {
    if (jpeg === lastJpeg) return;
    lastJpeg = jpeg;
    seen = { atMs: Date.now(), jpeg, mark: mark ?? seen?.mark ?? null };
    mark = null;
    work ??= workOff();
  };

  const look = async ({ connection, tabs }: Watched, isLeft: () => boolean): Promise<void> => {
    const driver = await openDriver(connection);
    const screencast = new Screencast({
      ...{ driver, tabs, picture: wanted, log },
      onFrame(frame, more) {
        more();
        if (!isLeft()) onFrame(frame.data);
      },
    });
    const end = (): void => {
      screencast.stop();
      void driver.end();
    };
    if (isLeft()) end();
    else leave = end;
  };

  let current = 0;
  const leaveBrowser = (): void => {
    current += 1;
    leave?.();
    leave = undefined;
  };

  return {
    follow(browser, begins) {
      leaveBrowser();
      const own = current;
      lastJpeg = undefined;
      mark = begins;
      look(browser, () => own !== current).catch((error: unknown) => {
        log.warn({ error: describeError(error) }, 'a browser cannot be recorded');
      });
    },
    async stop() {
      leaveBrowser();
      hurry.abort();
      await work;
      await encoder.stop();
    },
  };
};

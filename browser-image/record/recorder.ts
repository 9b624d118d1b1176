/**
 * Records what the browser shows: the tab at the front, whenever it has changed, at a bounded rate. It looks as a viewer
 * does, through a branch of its own, and what takes time is done in another thread; so neither the page nor those who
 * watch it wait for a recording.
 */
import { describeError } from '#domain/error.ts';
import { type RecordingMark, recordingLimits } from '#domain/recording.ts';
import type { Log } from '#runtime/log.ts';
import { pause } from '#runtime/pause.ts';
import type { Connection } from '../cdp/connection.ts';
import { openDriver } from '../cdp/driver.ts';
import { startScreencast } from '../view/screencast.ts';
import type { Tabs } from '../watch/tabs.ts';
import { createEncoder, type Encoder } from './encoder.ts';

/** A picture: a key frame of VP8 of the size that recordings have. */
export type RecordedPicture = {
  /** When it was taken, in Unix milliseconds. */
  atMs: number;
  data: Uint8Array;
  /** Set on the first one of another browser or profile. */
  mark: RecordingMark | null;
};

export type RecorderOptions = {
  onPicture(picture: RecordedPicture): void;
  encoder?: Encoder;
  log: Log;
};

type Watched = { connection: Connection; tabs: Tabs };

export type Recorder = {
  /** Looks at this browser from now on, and no more at the one before. */
  follow(browser: Watched, mark: RecordingMark): void;
  /** Looks no more, and resolves when what was seen is handed on. */
  stop(): Promise<void>;
};

const { width: maxWidth, height: maxHeight, pictureMs } = recordingLimits;
const wanted = { quality: 80, maxWidth, maxHeight };
/** After a picture it rests so many times as long as that took: a busy machine is for the page. */
const restTimes = 3;

type Seen = { atMs: number; jpeg: string; mark: RecordingMark | null };

/** Makes one, which looks at nothing yet. */
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
    const screencast = startScreencast({
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
        log.warn({ error: describeError(error) }, 'a browser is not recorded');
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

/**
 * Delivers pictures of the front tab, whenever Chromium sends one because something has changed. Each watcher has a
 * DevTools branch of its own, and follows when another tab comes to the front.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Driver } from '../cdp/driver.ts';
import type { Tabs } from '../watch/tabs.ts';

/** Tab in view, with the watcher's branch and session. */
export type Stage = { driver: Driver; sessionId: string; targetId: string };

/** Picture, as JPEG in base64, with the page's size in CSS pixels. */
export type Frame = { data: string; width: number; height: number };

export type Picture = { quality: number; maxWidth: number; maxHeight: number };

export type ScreencastOptions = {
  driver: Driver;
  tabs: Tabs;
  picture: Picture;
  /** Takes a frame, and calls `more` when it can take the next. A slow watcher gets fewer frames, not late ones. */
  onFrame(frame: Frame, more: () => void): void;
  /** Called when the list of tabs may have changed. */
  onTabs?(): void;
  log: Log;
};

export type Screencast = {
  stage(): Stage | undefined;
  /** Queues work, so that it runs alone and not while the front tab is being followed. */
  inTurn(work: () => Promise<void>): void;
  /** Requests a picture as soon as the stream is quiet, even if Chromium sees no change. */
  again(): void;
  stop(): void;
};

/**
 * Number of unacknowledged pictures at which Chromium drops further ones, including the last one before it falls
 * quiet.
 */
const mostUnderWay = 2;
/** Time without a picture after which a dropped one is requested again. */
const quietMs = 250;
/** Time after which the first picture of a tab is requested again, repeatedly until it comes. */
const firstMs = 2_000;

/** Returns a handler that only logs a failure, which usually means that the tab has closed. */
export const logged =
  (log: Log) =>
  (error: unknown): void =>
    log.debug({ error: describeError(error) }, 'a view could not do what was asked');

/** Starts watching. */
export const startScreencast = (options: ScreencastOptions): Screencast => {
  const { driver, tabs, picture, onFrame, onTabs, log } = options;
  let stage: Stage | undefined;
  let underWay = 0;
  let mayLack = false;
  let hasCome = false;
  let quiet: NodeJS.Timeout | undefined;
  let turn = Promise.resolve();
  const inTurn = (work: () => Promise<void>): void => {
    turn = turn.then(work).catch(logged(log));
  };

  const leave = async ({ sessionId, targetId }: Stage): Promise<void> => {
    if (tabs.find(targetId) === undefined) return;
    await driver.send('Target.detachFromTarget', { sessionId });
  };

  /** Starts the screencast, whereupon Chromium sends a picture at once. */
  const begin = async (sessionId: string): Promise<void> => {
    clearTimeout(quiet);
    [underWay, mayLack] = [0, false];
    const wanted = { format: 'jpeg', everyNthFrame: 1, ...picture };
    await driver.send('Page.startScreencast', wanted, sessionId);
    if (!hasCome) quiet = setTimeout(() => beginAgain(sessionId).catch(logged(log)), firstMs);
  };

  const came = (): void => {
    clearTimeout(quiet);
    hasCome = true;
    underWay += 1;
    mayLack ||= underWay >= mostUnderWay;
  };

  /**
   * Restarts the screencast: a running one sends nothing until something changes, a new one sends a picture at once.
   */
  const beginAgain = async (sessionId: string): Promise<void> => {
    await driver.send('Page.stopScreencast', {}, sessionId);
    await begin(sessionId);
  };

  const askOnceQuiet = (sessionId: string): void => {
    clearTimeout(quiet);
    if (underWay > 0 || !mayLack) return;
    quiet = setTimeout(() => beginAgain(sessionId).catch(logged(log)), quietMs);
  };

  const acknowledged = (sessionId: string): void => {
    underWay = Math.max(0, underWay - 1); // the picture may precede a restart
    askOnceQuiet(sessionId);
  };

  const again = (): void => {
    mayLack = true;
    if (stage !== undefined) askOnceQuiet(stage.sessionId);
  };

  const enter = async (targetId: string): Promise<void> => {
    const attached = await driver.send('Target.attachToTarget', { targetId, flatten: true });
    const sessionId = String(attached.sessionId);
    stage = { driver, sessionId, targetId };
    hasCome = false;
    await driver.send('Page.enable', {}, sessionId);
    await begin(sessionId);
  };

  /** Follows the tab that is at the front now, unless it is in view already. */
  const follow = async (): Promise<void> => {
    const active = tabs.active();
    const before = stage;
    if (active?.id !== before?.targetId) {
      stage = undefined;
      clearTimeout(quiet);
      if (before !== undefined) await leave(before);
      if (active !== undefined) await enter(active.id);
    }
    onTabs?.();
  };

  driver.on('Page.screencastFrame', ({ data, metadata, sessionId: frame }, sessionId) => {
    const acknowledge = (): void => {
      const params = { sessionId: frame };
      driver.send('Page.screencastFrameAck', params, sessionId).catch(logged(log));
    };
    const inView = stage?.sessionId;
    if (inView === undefined || inView !== sessionId) {
      acknowledge();
      return;
    }
    const more = (): void => {
      acknowledge();
      if (stage?.sessionId === inView) acknowledged(inView);
    };
    came();
    const { deviceWidth: width, deviceHeight: height } = metadata as Record<string, number>;
    onFrame({ data: String(data), width: Number(width), height: Number(height) }, more);
  });
  const unfollow = tabs.onChange(() => inTurn(follow));
  inTurn(follow);
  const stop = (): void => {
    unfollow();
    clearTimeout(quiet);
    mayLack = false;
  };
  return { stage: () => stage, inTurn, again, stop };
};

/**
 * Pictures of the tab at the front, as Chromium gives them when something has changed. Whoever looks has a DevTools branch
 * of its own, and goes along when another tab comes to the front.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Driver } from '../cdp/driver.ts';
import type { Tabs } from '../watch/tabs.ts';

/** The tab in view, as the branch of whoever looks speaks to it. */
export type Stage = { driver: Driver; sessionId: string; targetId: string };

/** A picture, as JPEG in base64, of a page of so many CSS pixels. */
export type Frame = { data: string; width: number; height: number };

export type Picture = { quality: number; maxWidth: number; maxHeight: number };

export type ScreencastOptions = {
  driver: Driver;
  tabs: Tabs;
  picture: Picture;
  /** Takes a frame, and calls `more` when the next one may come; there are fewer then, not late ones. */
  onFrame(frame: Frame, more: () => void): void;
  /** Called when the tabs are other than before. */
  onTabs?(): void;
  log: Log;
};

export type Screencast = {
  stage(): Stage | undefined;
  /** Does one thing after the other, between looks at which tab is at the front. */
  inTurn(work: () => Promise<void>): void;
  /** Has a picture come, once all is quiet, also if Chromium sees no change. */
  again(): void;
  stop(): void;
};

/** While so many pictures are not acknowledged Chromium drops what comes, be it the last that there is. */
const mostUnderWay = 2;
/** So long nothing changed: it is asked again for what was dropped. */
const quietMs = 250;
/** A tab of which Chromium gives no first picture within this time is asked for it again, until it comes. */
const firstMs = 2_000;

/** What fails because a tab went is told in the log and no more. */
export const logged =
  (log: Log) =>
  (error: unknown): void =>
    log.debug({ error: describeError(error) }, 'a view could not do what was asked');

/** Begins to look. */
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

  /** Chromium sends a picture at once. */
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

  /** One that goes on sends nothing until something changes; one that begins does. */
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
    underWay = Math.max(0, underWay - 1); // one may be of before it was begun again
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

  /** Looks at the tab at the front, if it does not yet. */
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

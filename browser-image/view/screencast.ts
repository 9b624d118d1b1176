/**
 * Delivers pictures of the front tab, whenever Chromium sends one because something has changed. Each watcher has a
 * DevTools branch of its own, and moves to another tab when that one comes to the front.
 */
import type { Log } from '#runtime/log.ts';
import type { Driver } from '../cdp/driver.ts';
import type { Params } from '../cdp/message.ts';
import type { Tabs } from '../watch/tabs.ts';
import { logFailure, type Picture, type Stage, TabPictures } from './tab-pictures.ts';

/** Picture, as JPEG in base64, with the page's size in CSS pixels. */
export type Frame = { data: string; width: number; height: number };

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

/** View of one watcher; it begins at once. */
export class Screencast {
  readonly #options: ScreencastOptions;
  readonly #unfollow: () => void;
  /** Pictures of the tab in view; undefined while no tab is in view. */
  #shown: TabPictures | undefined;
  /** Resolves when all queued work is done. */
  #queue = Promise.resolve();

  constructor(options: ScreencastOptions) {
    const { driver, tabs } = options;
    this.#options = options;
    driver.on('Page.screencastFrame', (params, sessionId) => this.#onFrame(params, sessionId));
    this.#unfollow = tabs.onChange(() => this.enqueue(() => this.#follow()));
    this.enqueue(() => this.#follow());
  }

  /** Returns the tab in view; undefined while no tab is in view. */
  stage(): Stage | undefined {
    return this.#shown?.stage;
  }

  /** Queues work, so that it runs alone and not while the view moves to another tab. */
  enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).catch(logFailure(this.#options.log));
  }

  /** Requests a picture as soon as the stream is quiet, even if Chromium sees no change. */
  again(): void {
    this.#shown?.again();
  }

  stop(): void {
    this.#unfollow();
    this.#shown?.stop();
  }

  /** Follows the tab that is at the front now, unless it is in view already. */
  async #follow(): Promise<void> {
    const { tabs, onTabs } = this.#options;
    const active = tabs.active();
    const before = this.#shown;
    if (active?.id !== before?.stage.targetId) {
      this.#shown = undefined;
      if (before !== undefined) await this.#leave(before);
      if (active !== undefined) await this.#enter(active.id);
    }
    onTabs?.();
  }

  async #leave(pictures: TabPictures): Promise<void> {
    pictures.stop();
    const { sessionId, targetId } = pictures.stage;
    if (this.#options.tabs.find(targetId) === undefined) return;
    await this.#options.driver.send('Target.detachFromTarget', { sessionId });
  }

  async #enter(targetId: string): Promise<void> {
    const { driver, picture, log } = this.#options;
    const attached = await driver.send('Target.attachToTarget', { targetId, flatten: true });
    const sessionId = String(attached.sessionId);
    const pictures = new TabPictures({ stage: { driver, sessionId, targetId }, picture, log });
    this.#shown = pictures;
    await driver.send('Page.enable', {}, sessionId);
    await pictures.start();
  }

  #onFrame({ data, metadata, sessionId: frame }: Params, sessionId: string | undefined): void {
    const { driver, onFrame, log } = this.#options;
    const acknowledge = (): void => {
      const params = { sessionId: frame };
      driver.send('Page.screencastFrameAck', params, sessionId).catch(logFailure(log));
    };
    const shown = this.#shown;
    if (shown === undefined || shown.stage.sessionId !== sessionId) {
      acknowledge();
      return;
    }
    const more = (): void => {
      acknowledge();
      if (this.#shown === shown) shown.acknowledged();
    };
    shown.received();
    const { deviceWidth: width, deviceHeight: height } = metadata as Record<string, number>;
    onFrame({ data: String(data), width: Number(width), height: Number(height) }, more);
  }
}

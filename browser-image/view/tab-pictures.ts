/**
 * Requests the pictures of one tab. Chromium sends one when something changes, and drops pictures while too many are
 * unacknowledged. A dropped picture is not sent later, so this file requests a picture again once the stream is quiet.
 */
import { describeError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import type { Driver } from '../cdp/driver.ts';

/** Tab in view, with the watcher's branch and session. */
export type Stage = { driver: Driver; sessionId: string; targetId: string };

export type Picture = { quality: number; maxWidth: number; maxHeight: number };

/**
 * Number of unacknowledged pictures from which Chromium drops further ones. The last picture before a quiet time may be
 * among the dropped ones.
 */
const mostUnacknowledged = 2;
/** Time without a picture after which a dropped one is requested again, in milliseconds. */
const quietMs = 250;
/** Time after which the first picture of a tab is requested again, repeatedly until it arrives. In milliseconds. */
const firstMs = 2_000;

/** Returns a handler that only logs a failure, which usually means that the tab has closed. */
export const logFailure =
  (log: Log) =>
  (error: unknown): void =>
    log.debug({ error: describeError(error) }, 'an action of a view failed');

export type TabPicturesOptions = { stage: Stage; picture: Picture; log: Log };

export class TabPictures {
  readonly stage: Stage;
  readonly #picture: Picture;
  readonly #log: Log;
  /** Number of pictures that were received and are not acknowledged. */
  #unacknowledged = 0;
  /** True if Chromium may have dropped a picture since the last start. */
  #mayLack = false;
  #hasReceived = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ stage, picture, log }: TabPicturesOptions) {
    this.stage = stage;
    this.#picture = picture;
    this.#log = log;
  }

  /** Starts the screencast, whereupon Chromium sends a picture at once. */
  async start(): Promise<void> {
    const { driver, sessionId } = this.stage;
    clearTimeout(this.#timer);
    this.#unacknowledged = 0;
    this.#mayLack = false;
    const wanted = { format: 'jpeg', everyNthFrame: 1, ...this.#picture };
    await driver.send('Page.startScreencast', wanted, sessionId);
    if (!this.#hasReceived) this.#restartIn(firstMs);
  }

  /** Records that a picture has arrived. */
  received(): void {
    clearTimeout(this.#timer);
    this.#hasReceived = true;
    this.#unacknowledged += 1;
    this.#mayLack ||= this.#unacknowledged >= mostUnacknowledged;
  }

  /** Records that a picture was acknowledged. */
  acknowledged(): void {
    // The picture may precede a restart.
    this.#unacknowledged = Math.max(0, this.#unacknowledged - 1);
    this.#restartOnceQuiet();
  }

  /** Requests a picture as soon as the stream is quiet, even if Chromium sees no change. */
  again(): void {
    this.#mayLack = true;
    this.#restartOnceQuiet();
  }

  /** Stops requesting pictures. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #restartOnceQuiet(): void {
    clearTimeout(this.#timer);
    if (this.#unacknowledged === 0 && this.#mayLack) this.#restartIn(quietMs);
  }

  #restartIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => this.#restart().catch(logFailure(this.#log)), ms);
  }

  /** Restarts the screencast: a running one sends nothing until a change, a new one sends a picture at once. */
  async #restart(): Promise<void> {
    const { driver, sessionId } = this.stage;
    await driver.send('Page.stopScreencast', {}, sessionId);
    await this.start();
  }
}

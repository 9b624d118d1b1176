/**
 * Gets the images of hosts: builds those that have a builder here, and pulls the others, unless the engine has them.
 */
import { own } from '#domain/json.ts';
import type { Log } from '#runtime/log.ts';
import type { Engine } from '../../engine/engine.ts';
import { pullImage } from '../../images/image.ts';
import type { PrepareOptions } from '../driver.ts';

export type HostImagesOptions = {
  engine: Engine;
  /**
   * Builders of the images that are built from the sources, by image name; images without an entry are pulled if
   * missing.
   */
  makers: Readonly<Partial<Record<string, (options: PrepareOptions) => Promise<void>>>>;
  log: Log;
};

export class HostImages {
  readonly #options: HostImagesOptions;
  /** Pulls and builds in progress, by image, so that concurrent launches share one. */
  readonly #inProgress = new Map<string, Promise<void>>();

  constructor(options: HostImagesOptions) {
    this.#options = options;
  }

  /** Builds or pulls an image. */
  get(image: string, preparing: PrepareOptions): Promise<void> {
    const { engine, makers } = this.#options;
    return own(makers, image)?.(preparing) ?? pullImage(engine, image, preparing);
  }

  /** Gets an image for a launch, and logs the progress. Launches that need the same image wait for it together. */
  async getForLaunch(image: string): Promise<void> {
    const { signal } = new AbortController();
    const onProgress = (line: string): void => this.#options.log.info({ image }, line);
    const pending = this.#inProgress.get(image) ?? this.get(image, { onProgress, signal });
    this.#inProgress.set(image, pending);
    try {
      await pending;
    } finally {
      this.#inProgress.delete(image);
    }
  }
}

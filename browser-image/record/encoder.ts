/** Owns the thread that encodes the pictures of a recording; it lives from the first picture to the end. */
import { Worker } from 'node:worker_threads';

export type Encoder = {
  /** Encodes a JPEG in base64 as a VP8 key frame, one at a time. Throws if it cannot be encoded. */
  encode(jpeg: string): Promise<Uint8Array>;
  stop(): Promise<void>;
};

type Answer = { data: Uint8Array; error?: undefined } | { data?: undefined; error: string };

/** Memory limit of the thread, which needs some 30 MB; a thread that exceeds it is ended. */
const resourceLimits = { maxOldGenerationSizeMb: 128 };

const ask = (worker: Worker, jpeg: string): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      act();
    };
    const onMessage = ({ data, error }: Answer): void =>
      settle(() => (data === undefined ? reject(new Error(error)) : resolve(data)));
    const onError = (error: unknown): void => settle(() => reject(error));
    const onExit = (): void => settle(() => reject(new Error('the encoder has ended')));
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(jpeg);
  });

/** Makes an encoder. Its thread starts with the first picture, and again after a failure. */
export const createEncoder = (): Encoder => {
  let worker: Worker | undefined;
  const start = (): Worker => {
    const started = new Worker(new URL('./encode-worker.ts', import.meta.url), { resourceLimits });
    started.on('error', () => undefined); // the caller receives the error
    started.once('exit', () => {
      if (worker === started) worker = undefined;
    });
    return started;
  };
  return {
    encode(jpeg) {
      worker ??= start();
      return ask(worker, jpeg);
    },
    async stop() {
      const ending = worker;
      worker = undefined;
      await ending?.terminate();
    },
  };
};

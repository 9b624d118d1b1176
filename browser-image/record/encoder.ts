/** The thread that encodes the pictures of a recording, which is there from the first picture to the end. */
import { Worker } from 'node:worker_threads';

export type Encoder = {
  /** Makes a key frame of VP8 of a JPEG in base64; one is made at a time. Throws when it cannot. */
  encode(jpeg: string): Promise<Uint8Array>;
  stop(): Promise<void>;
};

type Answer = { data: Uint8Array; error?: undefined } | { data?: undefined; error: string };

/** It needs some 30 MB; one that needs much more is ended. */
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

/** Makes one; its thread starts with the first picture, and anew after a failure. */
export const createEncoder = (): Encoder => {
  let worker: Worker | undefined;
  const start = (): Worker => {
    const started = new Worker(new URL('./encode-worker.ts', import.meta.url), { resourceLimits });
    started.on('error', () => undefined); // whoever asked hears of it
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

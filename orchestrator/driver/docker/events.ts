/**
 * The engine's notices of containers that ended. The stream may break at any time; it is opened again,
 * and each opening counts as a change, since what happened in between was not heard.
 */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type Docker from 'dockerode';
import type { Log } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import type { Watch } from '../driver.ts';
import { labelNames } from '../labels.ts';

const reopenMs = 500;

/** Calls back on each change to a container of the installation. */
export const watchContainers = (
  streams: Docker,
  installation: string,
  onChange: () => void,
  log: Log,
): Watch => {
  const loop = startLoop({
    name: 'watch-containers',
    everyMs: reopenMs,
    log,
    tick: async (signal) => {
      const stream = (await streams.getEvents({
        filters: {
          type: ['container'],
          event: ['die', 'oom', 'destroy'],
          label: [`${labelNames.installation}=${installation}`, `${labelNames.role}=host`],
        },
        abortSignal: signal,
      })) as Readable;
      onChange();
      stream.on('data', onChange);
      await finished(stream, { signal });
    },
  });
  return { loops: [loop], stop: () => loop.stop() };
};

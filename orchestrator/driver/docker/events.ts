/**
 * The engine's notices of containers that ended, or that were taken off their network or put on it, which
 * changes where they are reached. The streams may break at any time; each is opened again, and each
 * opening counts as a change, since what happened in between was not heard.
 */
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type Docker from 'dockerode';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Watch } from '../driver.ts';
import { labelNames } from '../labels.ts';
import { networkName } from './network.ts';

const reopenMs = 500;

/** What is heard of, as the engine's filters name it. */
type Notices = Readonly<Record<string, string[]>>;

/** Calls back on each change to a container of the installation. */
export const watchContainers = (
  streams: Docker,
  installation: string,
  onChange: () => void,
  log: Log,
): Watch => {
  const watch = (name: string, filters: Notices): Loop<void> =>
    startLoop({
      name,
      everyMs: reopenMs,
      log,
      tick: async (signal) => {
        const stream = (await streams.getEvents({ filters, abortSignal: signal })) as Readable;
        onChange();
        stream.on('data', onChange);
        await finished(stream, { signal });
      },
    });
  const ends = watch('watch-containers', {
    type: ['container'],
    event: ['die', 'oom', 'destroy'],
    label: [`${labelNames.installation}=${installation}`, `${labelNames.role}=host`],
  });
  // The engine’s notices about a network lack the labels of its containers.
  const moves = watch('watch-network', {
    type: ['network'],
    event: ['connect', 'disconnect'],
    network: [networkName(installation)],
  });
  const loops = [ends, moves];
  return {
    loops,
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
};

/**
 * Watches the engine's events: containers that ended, and containers connected to or disconnected from their network,
 * which changes their address. A stream may break at any time and is then opened again. Each opening counts as a
 * change, since events in between were missed.
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

/** Filters of an event stream, in the engine's format. */
type Notices = Readonly<Record<string, string[]>>;

/** Calls `onChange` on each change to a container of the installation. */
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
  // The engine’s network events lack the labels of containers, so the filter names the network.
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

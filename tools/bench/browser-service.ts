/**
 * Measures a session's browser through the whole service, with a warm browser, on processes: from the request for the
 * session until the browser shows its page and its DevTools answer.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { pause, until } from '#runtime/pause.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { browserOf } from '../../test/support/browser/browser-session.ts';
import { close, open } from '../../test/support/control/sessions.ts';
import { type Network, startNetwork } from '../../test/support/programs/network.ts';
import { pageWorld } from '../../test/support/worlds/page-world.ts';
import { encodeTree } from '../../test/support/worlds/worlds.ts';
import { type Figure, median, percentile } from './figure.ts';

const usualOpens = 20;
/** Pause before the measurement, in milliseconds: a browser of a warm pool has been up for at least this time. */
const settleMs = 1_500;
/** Best published figures of hosted browsers, in milliseconds: from open until the browser can be driven. */
const published = { p50: 554, p95: 648 };

const accepts = async (session: SessionView): Promise<void> => {
  const { cdpUrl, headers } = browserOf(session);
  const socket = new WebSocket(cdpUrl, { headers });
  await once(socket, 'open');
  socket.send('{"id":1,"method":"Browser.getVersion"}');
  await once(socket, 'message');
  socket.close();
};

const warm = async (network: Network): Promise<void> => {
  const rows = () =>
    network.sql<{ kind: string }>(`select distinct kind from hosts where state = 'warm'`);
  const timeoutMs = 60_000;
  await until(async () => (await rows()).length === 2, {
    timeoutMs,
    what: 'a warm host of each kind',
  });
  await pause(settleMs);
};

/** Measures opens, one after another. */
export const benchBrowserService = async (
  databaseUrl: string,
  opens = usualOpens,
): Promise<Figure[]> => {
  const env = { SVC_BROWSER_POOL_SIZE: '2', SVC_LOG_LEVEL: 'warn' };
  const network = await startNetwork({ databaseUrl, poolSize: 2, poolMax: 6, env });
  const samples: number[] = [];
  try {
    const from = encodeTree(pageWorld());
    await network.client.send(createWorld, { body: { slug: 'notes', from } });
    for (let count = 0; count < opens; count += 1) {
      await warm(network);
      const beganAt = performance.now();
      const session = await open(network.client, { slug: 'notes', surfaces: ['browser'] });
      await accepts(session);
      samples.push(performance.now() - beganAt);
      await close(network.client, session.id);
    }
  } finally {
    await network.stop();
  }
  const figure = (share: 'p50' | 'p95', value: number, target: number | null): Figure => ({
    ...{ name: `browser.open.${share}`, value, unit: 'ms', floor: null },
    ...{ peer: published[share], target, better: 'lower' },
  });
  return [figure('p50', median(samples), 300), figure('p95', percentile(samples, 0.95), null)];
};

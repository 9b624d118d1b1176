/**
 * Brings sessions that wait for a browser and warm browsers together. It is asked to look whenever there is one more of
 * either; a polling browser looks, too, in case the process died in between. Nobody gets one while a control plane of a
 * release without browsers runs.
 */
import type { Log } from '#runtime/log.ts';
import type { Database } from '../../db/core/database.ts';
import { isOlderListening } from '../../db/core/notifications.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import {
  type BrowserPlacement,
  lockBrowserPlacement,
  mayPlaceBrowser,
  placeBrowser,
} from '../../db/sessions/browsers.ts';
import { type Notifications, poolTopic } from '../../platform/notifications/notifications.ts';
import type { Metrics } from '../../platform/telemetry/counters.ts';

export type BrowserAssigner = {
  /** Gives away what can be given, and sends notices about it; answers whether this host has a session by then. */
  place(hostId?: string): Promise<boolean>;
};

type PlacerParts = { db: Database; log: Log; metrics: Metrics; notifications: Notifications };

/** One transaction places so many at most, before others get their turn. */
const mostAtOnce = 50;

const placeAll = (db: Database): Promise<BrowserPlacement[]> =>
  db.transaction(async (tx) => {
    await lockBrowserPlacement(tx);
    const placed: BrowserPlacement[] = [];
    while (placed.length < mostAtOnce) {
      const next = await placeBrowser(tx);
      if (next === undefined) break;
      placed.push(next);
    }
    return placed;
  });

/** Makes it. */
export const createBrowserAssigner = ({
  db,
  log,
  metrics,
  notifications,
}: PlacerParts): BrowserAssigner => {
  const tell = (placed: BrowserPlacement): void => {
    log.info(placed, 'browser placed');
    metrics.browserWaitSeconds.observe(placed.waitedMs / 1_000);
    notifications.tell(placed.hostId, placed.sessionId, poolTopic);
  };
  return {
    async place(hostId) {
      if (!(await mayPlaceBrowser(db))) {
        notifications.tell(poolTopic);
        return false;
      }
      if (await isOlderListening(db)) {
        log.info(
          'browsers are given to sessions once no control plane runs that does not know them',
        );
        return false;
      }
      const placed = await forNoProject(() => placeAll(db));
      for (const one of placed) tell(one);
      if (placed.length === 0) notifications.tell(poolTopic);
      return placed.some((one) => one.hostId === hostId);
    },
  };
};

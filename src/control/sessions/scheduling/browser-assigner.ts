/**
 * Assigns warm browsers to sessions that wait for one. Runs whenever a browser becomes warm or a session starts to
 * wait, and at each poll of a browser, in case a process died in between. While a control plane is running whose
 * release does not know browsers, no browser is assigned.
 */
import type { Log } from '#runtime/log.ts';
import type { Database } from '../../db/core/database.ts';
import { isOlderListening } from '../../db/core/notifications.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import {
  type AssignedBrowser,
  assignBrowser,
  lockBrowserAssignment,
  mayAssignBrowser,
} from '../../db/sessions/browsers.ts';
import { type Notifications, poolTopic } from '../../platform/notifications/notifications.ts';
import type { Metrics } from '../../platform/telemetry/counters.ts';

export type BrowserAssigner = {
  /**
   * Assigns as many browsers as possible and sends the notifications. Returns true if the given host then has a
   * session.
   */
  assign(hostId?: string): Promise<boolean>;
};

type AssignerParts = { db: Database; log: Log; metrics: Metrics; notifications: Notifications };

/** Maximum number of assignments in one transaction. It is limited so that other transactions also get the lock. */
const mostAtOnce = 50;

const placeAll = (db: Database): Promise<AssignedBrowser[]> =>
  db.transaction(async (tx) => {
    await lockBrowserAssignment(tx);
    const assigned: AssignedBrowser[] = [];
    while (assigned.length < mostAtOnce) {
      const next = await assignBrowser(tx);
      if (next === undefined) break;
      assigned.push(next);
    }
    return assigned;
  });

/** Creates the assigner. */
export const createBrowserAssigner = ({
  db,
  log,
  metrics,
  notifications,
}: AssignerParts): BrowserAssigner => {
  const announce = (assigned: AssignedBrowser): void => {
    log.info(assigned, 'browser assigned to a session');
    metrics.browserWaitSeconds.observe(assigned.waitedMs / 1_000);
    notifications.notify(assigned.hostId, assigned.sessionId, poolTopic);
  };
  return {
    async assign(hostId) {
      if (!(await mayAssignBrowser(db))) {
        notifications.notify(poolTopic);
        return false;
      }
      if (await isOlderListening(db)) {
        log.info('no browser is assigned while a control plane of a release without browsers runs');
        return false;
      }
      const assigned = await forNoProject(() => placeAll(db));
      for (const one of assigned) announce(one);
      if (assigned.length === 0) notifications.notify(poolTopic);
      return assigned.some((one) => one.hostId === hostId);
    },
  };
};

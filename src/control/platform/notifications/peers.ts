/**
 * Detects whether other replicas listen for notifications. While no other replica listens, no notifications are sent,
 * because each would cost a statement, a commit and a message to this same process, several times a session. If in
 * doubt, they are sent. A replica that begins to listen announces itself on the channel. In addition, this replica
 * queries PostgreSQL, which knows the listening connections, every few seconds. So a new replica is known after
 * `settledMs` at the latest, even if its announcement is lost. Notifications that are sent before the new replica is
 * known may not be delivered to it.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Queryable } from '../../db/core/database.ts';
import { countListeners } from '../../db/core/notifications.ts';

export type Peers = {
  /** Returns true if no other replica listens. */
  isAlone(): boolean;
  /** Records that a message from another replica arrived, which proves that there is one. */
  heard(): void;
  /** Sets the PostgreSQL process id of the connection on which this replica listens. */
  listensAs(pid: number): void;
  loop: Loop<'alone' | 'with others'>;
};

/** Interval between two checks for peers, in milliseconds. */
export const lookEveryMs = 2_000;

/**
 * Returns the time in milliseconds after which all peers know a replica that began to listen, if they check at the
 * given interval.
 */
export const settledMs = (everyMs: number): number => 2 * everyMs;

/** Starts the checks for peers. */
export const watchPeers = (db: Queryable, log: Log, everyMs = lookEveryMs): Peers => {
  let ownPid: number | undefined;
  let isAlone = false;
  let timesHeard = 0;
  const look = async (): Promise<boolean> => {
    const heardBefore = timesHeard;
    if (ownPid === undefined) return false;
    const { own, others } = await countListeners(db, ownPid);
    // If its own connection is not visible, the connections of other replicas may not be visible, either.
    return own === 1 && others === 0 && timesHeard === heardBefore;
  };
  return {
    isAlone: () => isAlone,
    heard() {
      timesHeard += 1;
      isAlone = false;
    },
    listensAs(pid) {
      ownPid = pid;
      // A replica that started while this one did not listen was not noticed. A check in flight still uses the old
      // pid.
      timesHeard += 1;
      isAlone = false;
    },
    loop: startLoop({
      name: 'company',
      everyMs,
      log,
      async tick() {
        try {
          isAlone = await look();
        } catch (error) {
          isAlone = false;
          throw error;
        }
        return isAlone ? 'alone' : 'with others';
      },
    }),
  };
};

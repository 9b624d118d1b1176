/**
 * Whether other replicas listen for notices. While none does, none are sent: each would be a statement, a commit
 * and a message to this very process, several times a session. In doubt they are sent.
 *
 * A replica that begins to listen says so over the channel itself; whether there is still one, PostgreSQL is asked
 * every few seconds, as it has the connections that listen. So a replica that came is known to the others after
 * `settledMs` at the latest, whatever became of its greeting; what was told before that may not have reached it.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Queryable } from '../../db/core/database.ts';
import { countListeners } from '../../db/core/notifications.ts';

export type Peers = {
  /** Whether nobody else listens. */
  isAlone(): boolean;
  /** Another replica was heard: it is not alone. */
  heard(): void;
  /** The connection by which this replica listens, as PostgreSQL calls it. */
  listensAs(pid: number): void;
  loop: Loop<'alone' | 'with others'>;
};

/** Between two looks, in milliseconds. */
export const lookEveryMs = 2_000;

/** After so long the others have looked since a replica began to listen, if they look so often. */
export const settledMs = (everyMs: number): number => 2 * everyMs;

/** Starts looking. */
export const watchPeers = (db: Queryable, log: Log, everyMs = lookEveryMs): Peers => {
  let ownPid: number | undefined;
  let isAlone = false;
  let timesHeard = 0;
  const look = async (): Promise<boolean> => {
    const heardBefore = timesHeard;
    if (ownPid === undefined) return false;
    const { own, others } = await countListeners(db, ownPid);
    // Where its own connection does not show, those of others might not, either.
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
      // Who came while it did not listen has not been heard. A look that is under way knows the one before.
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

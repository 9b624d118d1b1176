/**
 * The host's sign of life, apart from its polls: it goes on while a call runs and while a world loads,
 * and brings back whether the host is still wanted, and where its session is reached by now.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import { heartbeat } from '#wire/host-api/operations.ts';
import type { Contact } from './contact.ts';
import { type ControlLink, type HostIdentity, isStale } from './link.ts';

export type HeartbeatOptions = {
  identity: HostIdentity;
  serving: {
    /** Milliseconds since the session was last used; undefined without a session. */
    idleMs(): number | undefined;
    /** Its session is reached there by now. */
    moveTo(address: string): void;
  };
  /** Learns of each beat that is answered. */
  contact: Contact;
  link: ControlLink;
  log: Log;
  /** Called when the host is to stop, with the reason. */
  onEnd(reason: 'drained' | 'stale'): void;
};

const everyMs = 2_000;

export const startHeartbeat = (options: HeartbeatOptions): Loop<void> => {
  const { contact, link, log, onEnd, serving, identity } = options;
  return startLoop({
    name: 'heartbeat',
    everyMs,
    log,
    async tick(signal) {
      const { hostId, generation } = identity;
      const idleMs = serving.idleMs();
      const body = {
        generation,
        rssBytes: process.memoryUsage.rss(),
        ...(idleMs === undefined ? {} : { idleMs }),
      };
      const answered = contact.begin();
      try {
        const told = await link.sendOnce(heartbeat, { params: { hostId }, body }, { signal });
        answered();
        // An answer that crossed the end of a session says nothing of the next one.
        const isOfNow = generation === identity.generation;
        if (told.address !== undefined && isOfNow) serving.moveTo(told.address);
        if (told.drain) onEnd('drained');
      } catch (error) {
        if (!isStale(error)) throw error;
        // A beat that crossed a change of generation says nothing about the new one.
        if (generation === identity.generation) onEnd('stale');
      }
    },
  });
};

/**
 * Sends the host's heartbeat, independent of its polls, so that heartbeats continue while a call runs or a world loads.
 * The answer says whether the host must drain, and the current address of its session.
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
    /** Changes the address under which the session is reached. */
    moveTo(address: string): void;
  };
  /** Contact tracker that each answered heartbeat renews. */
  contact: Contact;
  link: ControlLink;
  log: Log;
  /** Called with the reason when the host has to stop. */
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
        const answer = await link.sendOnce(heartbeat, { params: { hostId }, body }, { signal });
        answered();
        // An answer that arrives after the session ended must not move the next session.
        const isOfNow = generation === identity.generation;
        if (answer.address !== undefined && isOfNow) serving.moveTo(answer.address);
        if (answer.drain) onEnd('drained');
      } catch (error) {
        if (!isStale(error)) throw error;
        // A refusal that arrives after the generation changed does not concern the new one.
        if (generation === identity.generation) onEnd('stale');
      }
    },
  });
};

/**
 * Tracks whether the control plane has heard from this host recently. If it has not for `limits.hostSilenceMs`, it may
 * have given the session up and assigned it elsewhere. A host without an answer for that long therefore serves no
 * session until the next answer.
 *
 * The silence counts from before a message was sent, so it ends on the host no later than on the control plane.
 */
import { limits } from '#domain/limits.ts';

export type Contact = {
  /** Marks that a message is about to be sent. Returns a function to call when it is answered. */
  begin(): () => void;
  /** Returns true if the control plane may have given the session up. */
  isLost(): boolean;
};

/**
 * Both clocks are needed: the monotonic one stands still while the machine is suspended, and the wall clock may be set
 * back.
 */
const bothClocks = [() => performance.now(), () => Date.now()];

/** Creates the contact of a host, beginning now. `clocks` return milliseconds; the one that advanced most counts. */
export const createContact = (clocks: readonly (() => number)[] = bothClocks): Contact => {
  const read = (): number[] => clocks.map((clock) => clock());
  let heardAt = read();
  return {
    begin() {
      const sentAt = read();
      return () => {
        heardAt = sentAt;
      };
    },
    isLost: () => read().some((now, index) => now - (heardAt[index] ?? 0) >= limits.hostSilenceMs),
  };
};

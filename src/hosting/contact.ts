/**
 * Tracks whether the control plane has heard from this host recently. If it has not for `limits.hostSilenceMs`, it may
 * have ended the session or assigned it to another host. A host without an answer for that long therefore serves no
 * session until the next answer.
 * The silence is measured from the time before a message was sent. So the host stops serving no later than the control
 * plane gives up on it.
 */
import { limits } from '#domain/limits.ts';

export type Contact = {
  /** Records that a message is about to be sent. Returns a function to call when the message is answered. */
  begin(): () => void;
  /** Returns true if the control plane may have ended the session or assigned it to another host. */
  isLost(): boolean;
};

/**
 * Both clocks are needed: the monotonic one stands still while the machine is suspended, and the wall clock may be set
 * back.
 */
const bothClocks = [() => performance.now(), () => Date.now()];

/**
 * Creates the contact tracker of a host; the first period begins now. `clocks` return milliseconds; the one that
 * advanced most counts.
 */
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

/**
 * Tracks whether the control plane has heard from this host recently. If the host has been silent for
 * `limits.hostSilenceMs`, the control plane may have ended the session or assigned it to another host. A host without
 * an answer for that long therefore serves no session until the next answer. The silence is measured from the time
 * before a message was sent. So the host stops serving before the control plane may give the session to another host.
 */
import { limits } from '#domain/limits.ts';

export type Contact = {
  /** Records that a message is about to be sent. Returns a function to call when the message is answered. */
  begin(): () => void;
  /** Returns true if the control plane may have ended the session or assigned it to another host. */
  isLost(): boolean;
};

/**
 * Clocks of a contact tracker. Both are needed: the monotonic one stands still while the machine is suspended, and the
 * wall clock may be set back.
 */
const bothClocks = [() => performance.now(), () => Date.now()];

/**
 * Creates the contact tracker of a host; the first period begins now. `clocks` return milliseconds; the clock that
 * advanced most decides.
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

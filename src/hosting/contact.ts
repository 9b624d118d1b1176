/**
 * Whether the control plane has heard of this host lately. When it has not for `limits.hostSilenceMs`, it may
 * have given the session up, and another host or nobody has it; so a host that was answered nothing for
 * that long serves nobody until it is answered again.
 *
 * Time is counted from before a message was sent, so it ends here no later than there.
 */
import { limits } from '#domain/limits.ts';

export type Contact = {
  /** A message is about to be sent; what this returns is called once it is answered. */
  begin(): () => void;
  /** Whether the session may have been given up by now. */
  isLost(): boolean;
};

/** One stands still while the machine is suspended, the other may be set back. */
const bothClocks = [() => performance.now(), () => Date.now()];

/** The contact of a host that begins now. `clocks` are in milliseconds; the one that went farthest counts. */
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

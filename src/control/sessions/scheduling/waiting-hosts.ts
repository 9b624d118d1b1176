/**
 * Handing a call straight to the host that waits for one. A host's poll takes the seat of its session;
 * a client's request that finds the seat taken writes its call as claimed by that host and hands it
 * over: one commit instead of two. The seat's own wait cannot end while a hand reaches for it.
 *
 * Only this process knows its seats. A call for a host that polls elsewhere goes through the queue.
 */

import type { HostCall } from '#wire/host-api/operations.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { CallRow, SessionHost } from '../../db/sessions/calls.ts';

/** A call for its host, with its input as text. */
export type HostCallText = Omit<HostCall, 'input'> & { input: JsonText };

/** What a host needs of a call to run it. */
export const toHostCall = ({
  id,
  seq,
  kind,
  name,
  inputJson,
}: Pick<CallRow, 'id' | 'seq' | 'kind' | 'name' | 'inputJson'>): HostCallText => ({
  id,
  seq,
  kind,
  name,
  input: new JsonText(inputJson),
});

export type WaitingHost = {
  /** Gives up the seat; resolves with the call that was handed over, if one was. */
  leave(): Promise<HostCallText | undefined>;
};

export type Handover = {
  /** The host that sits there. */
  host: SessionHost;
  give(call: HostCallText): void;
  /** Nothing to give after all. */
  release(): void;
};

export type WaitingHosts = {
  sit(host: SessionHost): WaitingHost;
  /** Reaches for the host of a session; undefined when none waits, or another hand has it. */
  reach(sessionId: string): Handover | undefined;
};

type Taken = { host: SessionHost; handed: Promise<HostCallText | undefined> | undefined };

/** Makes the seats. `ring` wakes the poll that sits at a session. */
export const createWaitingHosts = (ring: (sessionId: string) => void): WaitingHosts => {
  const taken = new Map<string, Taken>();
  return {
    sit(host) {
      const own: Taken = { host, handed: undefined };
      taken.set(host.sessionId, own);
      return {
        leave: async () => {
          if (taken.get(host.sessionId) === own) taken.delete(host.sessionId);
          return own.handed;
        },
      };
    },
    reach(sessionId) {
      const seat = taken.get(sessionId);
      if (seat === undefined) return undefined;
      taken.delete(sessionId);
      const { promise, resolve } = Promise.withResolvers<HostCallText | undefined>();
      seat.handed = promise;
      const settle = (call: HostCallText | undefined): void => {
        resolve(call);
        ring(sessionId);
      };
      return { host: seat.host, give: settle, release: () => settle(undefined) };
    },
  };
};

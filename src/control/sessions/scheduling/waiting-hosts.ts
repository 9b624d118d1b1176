/**
 * Hands a call directly to the host whose poll waits in this process. The poll registers for its session. A client's
 * request that finds it inserts its call as already claimed by that host and hands it over: one commit instead of two.
 * While a request holds the registration, the poll cannot return without its outcome.
 *
 * Each process knows only its own polls. A call for a host that polls elsewhere goes through the queue.
 */

import type { HostCall } from '#wire/host-api/operations.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { CallRow, SessionHost } from '../../db/sessions/calls.ts';

/** A call for its host, with its input as text. */
export type HostCallText = Omit<HostCall, 'input'> & { input: JsonText };

/** Returns the members of a call that its host needs to run it. */
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
  /** Ends the registration; resolves with the call that was handed over, if any. */
  leave(): Promise<HostCallText | undefined>;
};

export type Handover = {
  /** The host whose poll waits. */
  host: SessionHost;
  give(call: HostCallText): void;
  /** Ends the handover without a call. */
  release(): void;
};

export type WaitingHosts = {
  sit(host: SessionHost): WaitingHost;
  /** Reserves the waiting host of a session; returns undefined if none waits or another request has reserved it. */
  reach(sessionId: string): Handover | undefined;
};

type Taken = { host: SessionHost; handed: Promise<HostCallText | undefined> | undefined };

/** Creates the registry. `ring` wakes the poll that waits for a session. */
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

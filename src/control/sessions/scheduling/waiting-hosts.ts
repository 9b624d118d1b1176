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
  register(host: SessionHost): WaitingHost;
  /** Reserves the waiting host of a session; returns undefined if none waits or another request has reserved it. */
  reserve(sessionId: string): Handover | undefined;
};

type Registration = { host: SessionHost; handed: Promise<HostCallText | undefined> | undefined };

/** Creates the registry. `wake` wakes the poll that waits for a session. */
export const createWaitingHosts = (wake: (sessionId: string) => void): WaitingHosts => {
  const registrations = new Map<string, Registration>();
  return {
    register(host) {
      const own: Registration = { host, handed: undefined };
      registrations.set(host.sessionId, own);
      return {
        leave: async () => {
          if (registrations.get(host.sessionId) === own) registrations.delete(host.sessionId);
          return own.handed;
        },
      };
    },
    reserve(sessionId) {
      const found = registrations.get(sessionId);
      if (found === undefined) return undefined;
      registrations.delete(sessionId);
      const { promise, resolve } = Promise.withResolvers<HostCallText | undefined>();
      found.handed = promise;
      const settle = (call: HostCallText | undefined): void => {
        resolve(call);
        wake(sessionId);
      };
      return { host: found.host, give: settle, release: () => settle(undefined) };
    },
  };
};

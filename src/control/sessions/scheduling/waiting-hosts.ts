/**
 * Hands a call directly to the host whose poll this process holds. The poll registers itself for its session. A
 * client's request that finds the registration inserts its call as already claimed by that host, and hands the call to
 * the poll: one commit instead of two. While a request has the registration reserved, the poll returns only after that
 * request's outcome. Each process knows only the polls that it holds itself. A call for a host that polls at another
 * process goes through the queue.
 */

import type { HostCall } from '#wire/host-api/operations.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { CallRow, SessionHost } from '../../db/sessions/calls.ts';

/** Call as its host gets it, with the input as JSON text. */
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
  /** Ends the registration. Resolves with the call that was handed over; undefined if there was none. */
  leave(): Promise<HostCallText | undefined>;
};

export type Handover = {
  /** Host whose poll this process holds. */
  host: SessionHost;
  give(call: HostCallText): void;
  /** Ends the reservation without a call. */
  release(): void;
};

export type WaitingHosts = {
  register(host: SessionHost): WaitingHost;
  /**
   * Reserves the waiting host of a session. Returns undefined if no host waits, or another request has reserved the
   * host.
   */
  reserve(sessionId: string): Handover | undefined;
};

type Registration = { host: SessionHost; handed: Promise<HostCallText | undefined> | undefined };

/** Creates the registry. `wake` wakes the held poll of a session. */
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

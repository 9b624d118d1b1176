/**
 * Why a client's connection is closed: WebSocket close codes of our own, each with one word as the reason, so that a
 * program can tell what happened and whether to connect again.
 */
import type { WebSocket } from 'ws';

export const closures = {
  /** The browser crashed or was lost. Another one is started from the last checkpoint, at the same address. */
  browser_lost: 4_000,
  /** The session was reset: a fresh profile stands on the entry page, at the same address. */
  reset: 4_001,
  /** The session has ended; nothing is at this address any more. */
  session_ended: 4_002,
  /** The machine under the browser is taken away. Another browser is started, at the same address. */
  reclaimed: 4_003,
  /** The client reads slower than the browser speaks. */
  too_slow: 4_004,
  /** As many clients as there may be are connected already. */
  too_many: 4_005,
  /** The browser crashed again and again and is not started any more; reset the session. */
  browser_failed: 4_006,
  /** The client sent something that is no message. */
  not_understood: 4_007,
} as const;

export type Closure = keyof typeof closures;

/** Who does not answer the goodbye is cut off after so long. */
const goodbyeMs = 1_000;

/** Closes a connection and says why. */
export const closeSocket = (socket: WebSocket, code: number, reason: string): void => {
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), goodbyeMs);
  socket.once('close', () => clearTimeout(timer));
};

/** Closes a connection for one of our reasons. */
export const closeFor = (socket: WebSocket, closure: Closure): void =>
  closeSocket(socket, closures[closure], closure);

/**
 * WebSocket close codes for a client's connection, each with a one-word reason. A program can read from them what
 * happened and whether to connect again.
 */
import type { WebSocket } from 'ws';

export const closures = {
  /** The browser crashed or was lost. A new one starts from the last checkpoint, at the same address. */
  browser_lost: 4_000,
  /** The session was reset: the entry page is open in a fresh profile, at the same address. */
  reset: 4_001,
  /** The session has ended; nothing is served at this address any more. */
  session_ended: 4_002,
  /** The machine that the browser runs on is being taken away. Another browser starts, at the same address. */
  reclaimed: 4_003,
  /** The client reads more slowly than the browser sends, so its connection is closed. */
  too_slow: 4_004,
  /** The maximum number of clients is already connected. */
  too_many: 4_005,
  /** The browser crashed repeatedly and is not restarted any more; reset the session. */
  browser_failed: 4_006,
  /** The client sent a text that is not a message. */
  not_understood: 4_007,
} as const;

export type Closure = keyof typeof closures;

/** Time to wait for the peer's close frame before the connection is cut, in milliseconds. */
const goodbyeMs = 1_000;

/** Closes a connection with a code and a reason. */
export const closeSocket = (socket: WebSocket, code: number, reason: string): void => {
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), goodbyeMs);
  socket.once('close', () => clearTimeout(timer));
};

/** Closes a connection with one of the codes above. */
export const closeFor = (socket: WebSocket, closure: Closure): void =>
  closeSocket(socket, closures[closure], closure);

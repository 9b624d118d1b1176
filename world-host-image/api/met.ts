/** Applies the declared faults that a request met to its answer: delays it, or drops the connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pause } from '#runtime/pause.ts';
import { droppedInterim } from '#wire/dropped.ts';
import type { Met } from '../session/faults.ts';

/**
 * Delays an answer as long as the fault says, unless the session ends or the client disconnects first. Returns true if
 * the connection is to be dropped.
 */
export const holdBack = async (
  met: Met | undefined,
  socket: Socket,
  ending: AbortSignal,
): Promise<boolean> => {
  if (met !== undefined && met.latencyMs > 0 && !socket.destroyed) {
    const gone = new AbortController();
    const go = (): void => gone.abort();
    socket.once('close', go);
    await pause(met.latencyMs, AbortSignal.any([gone.signal, ending]));
    socket.off('close', go);
  }
  return met?.drop !== undefined;
};

/**
 * Closes the connection without an answer. A gateway in front of this host gets an interim response which marks the
 * drop as intended.
 */
export const dropConnection = (
  { headers, socket }: IncomingMessage,
  response: ServerResponse,
): void => {
  const isForwarded = headers['x-forwarded-for'] !== undefined;
  // Without a socket of its own, this answer is not the next one on the connection, so an interim response would be
  // out of order.
  if (response.socket === null || !isForwarded) socket.destroy();
  else socket.end(droppedInterim);
};

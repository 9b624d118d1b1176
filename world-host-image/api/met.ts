/** Applies the declared faults of a request to its answer: delays the answer, or drops the connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pause } from '#runtime/pause.ts';
import { droppedInterim } from '#wire/dropped.ts';
import type { Met } from '../session/faults.ts';

/**
 * Delays an answer by the fault's latency; the delay ends early if the session ends or the client disconnects. Returns
 * true if the connection is to be dropped.
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
 * Closes the connection without an answer. If a gateway is in front of this host, it first gets an interim response
 * that marks the drop as intended.
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

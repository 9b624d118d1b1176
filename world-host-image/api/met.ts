/** What the declared faults that a request met do to its answer: it is held back, or its connection is dropped. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pause } from '#runtime/pause.ts';
import { droppedInterim } from '#wire/dropped.ts';
import type { Met } from '../session/faults.ts';

/**
 * Holds an answer back as long as a fault says, while the session is served and its client there. Answers whether the
 * connection is to be dropped.
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

/** Closes the connection without an answer; a gateway before this host is told that this is meant. */
export const dropConnection = (
  { headers, socket }: IncomingMessage,
  response: ServerResponse,
): void => {
  const isForwarded = headers['x-forwarded-for'] !== undefined;
  // Without a socket of its own, the answer is not the next one of its connection.
  if (response.socket === null || !isForwarded) socket.destroy();
  else socket.end(droppedInterim);
};

/**
 * Serves the pipelined requests of each connection one after another, in the client's order: a later request may
 * depend on an earlier one. Node orders only the answers, and neither protocol switches nor answers to input that it
 * cannot parse. Those wait here as well, so that no answer is taken for that of another request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Request, or an answer that ends the connection in place of one (`exchange` is then undefined). */
export type Turn = {
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined;
  begin(): void;
};

export type Turns = {
  /** Begins the turn after all earlier ones have been answered. If too many wait, the connection ends. */
  take(socket: Socket, turn: Turn): void;
  /** Ends the connection in place of a request that was not sent completely, and of all that follows. */
  takeLast(socket: Socket, begin: () => void): void;
  /** Returns the unanswered response of a connection that is first in order. */
  current(socket: Socket): ServerResponse | undefined;
};

/** Most unanswered requests on a connection. Browsers and client libraries send one at a time. */
const mostUnanswered = 4;

/** Creates the queues; they begin without connections. */
export const createTurns = (): Turns => {
  const queues = new WeakMap<Socket, Turn[]>();
  const queueOf = (socket: Socket): Turn[] => {
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    return queue;
  };

  const beginFirst = (socket: Socket, queue: Turn[]): void => {
    const [turn] = queue;
    if (turn === undefined || socket.destroyed) return;
    turn.exchange?.response.once('close', () => {
      queue.shift();
      beginFirst(socket, queue);
    });
    turn.begin();
  };

  const take = (socket: Socket, turn: Turn): void => {
    const queue = queueOf(socket);
    queue.push(turn);
    if (queue.length === 1) beginFirst(socket, queue);
    else if (queue.length > mostUnanswered) socket.destroy();
  };

  return {
    take,
    takeLast(socket, begin) {
      const queue = queueOf(socket);
      const last = queue.at(-1);
      // The connection already ends with the last turn, so further input is discarded.
      if (last !== undefined && last.exchange === undefined) return;
      const isWhole = last?.exchange?.request.complete ?? true;
      if (!isWhole && queue.length === 1) return begin();
      if (!isWhole) queue.pop();
      take(socket, { exchange: undefined, begin });
    },
    current: (socket) => queues.get(socket)?.[0]?.exchange?.response,
  };
};

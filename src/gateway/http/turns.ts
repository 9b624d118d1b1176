/**
 * Takes what comes on each connection one after another, as its client sent it: what is sent without
 * waiting for answers may depend on what comes before. Node does that for answers alone, and not for a
 * change of protocol, nor for what could not be read; these wait here, too, so that no answer is taken for
 * that of another request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request, or what ends a connection in place of one. */
export type Turn = {
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined;
  begin(): void;
};

export type Turns = {
  /** Begins it when everything before it has been answered. Too many that wait end the connection. */
  take(socket: Socket, turn: Turn): void;
  /** Ends the connection, in place of what the client has not sent whole and of all that follows. */
  takeLast(socket: Socket, begin: () => void): void;
  /** The answer that a connection waits for. */
  current(socket: Socket): ServerResponse | undefined;
};

/** Requests of a connection that are not answered yet. Browsers and client libraries send one at a time. */
const mostUnanswered = 4;

/** Begins with no connections. */
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
      // Whatever else comes is thrown away.
      if (last !== undefined && last.exchange === undefined) return;
      const isWhole = last?.exchange?.request.complete ?? true;
      if (!isWhole && queue.length === 1) return begin();
      if (!isWhole) queue.pop();
      take(socket, { exchange: undefined, begin });
    },
    current: (socket) => queues.get(socket)?.[0]?.exchange?.response,
  };
};

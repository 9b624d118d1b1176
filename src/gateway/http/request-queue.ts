/**
 * Serves the pipelined requests of each connection one after another, in the client's order: a later request may
 * depend on an earlier one. Node orders only the answers, and neither protocol switches nor answers to input that it
 * cannot parse. Those wait here as well, so that no answer is taken for that of another request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Request, or an answer that ends the connection in place of one (`exchange` is then undefined). */
export type QueuedRequest = {
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined;
  begin(): void;
};

/** Most unanswered requests on a connection. Browsers and client libraries send one at a time. */
const mostUnanswered = 4;

/** Queues of the requests of each connection. */
export class RequestQueues {
  readonly #queues = new WeakMap<Socket, QueuedRequest[]>();

  /** Begins the request after all earlier ones have been answered. If too many wait, the connection ends. */
  add(socket: Socket, entry: QueuedRequest): void {
    const queue = this.#queueOf(socket);
    queue.push(entry);
    if (queue.length === 1) this.#beginFirst(socket, queue);
    else if (queue.length > mostUnanswered) socket.destroy();
  }

  /** Ends the connection in place of a request that was not sent completely, and of all that follows. */
  addLast(socket: Socket, begin: () => void): void {
    const queue = this.#queueOf(socket);
    const last = queue.at(-1);
    // The connection already ends with the last entry, so further input is discarded.
    if (last !== undefined && last.exchange === undefined) return;
    const isWhole = last?.exchange?.request.complete ?? true;
    if (!isWhole && queue.length === 1) {
      begin();
      return;
    }
    if (!isWhole) queue.pop();
    this.add(socket, { exchange: undefined, begin });
  }

  /** Returns the unanswered response of a connection that is first in order. */
  current(socket: Socket): ServerResponse | undefined {
    return this.#queues.get(socket)?.[0]?.exchange?.response;
  }

  #queueOf(socket: Socket): QueuedRequest[] {
    const queue = this.#queues.get(socket) ?? [];
    this.#queues.set(socket, queue);
    return queue;
  }

  #beginFirst(socket: Socket, queue: QueuedRequest[]): void {
    const [entry] = queue;
    if (entry === undefined || socket.destroyed) return;
    entry.exchange?.response.once('close', () => {
      queue.shift();
      this.#beginFirst(socket, queue);
    });
    entry.begin();
  }
}

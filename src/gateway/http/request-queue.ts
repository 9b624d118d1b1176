/**
 * Serves the pipelined requests of each connection one after another, in the client's order: a later request may depend
 * on an earlier one. Node orders only its own answers, and neither protocol switches nor the answers to input that it
 * cannot parse. This queue orders those too, so that no answer is mistaken for the answer to another request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Request, or an answer that ends the connection in place of a request (`exchange` is then undefined). */
export type QueuedRequest = {
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined;
  begin(): void;
};

/** Maximum number of unanswered requests on a connection. Browsers and client libraries send one at a time. */
const mostUnanswered = 4;

/** Queues of the requests of each connection. */
export class RequestQueues {
  readonly #queues = new WeakMap<Socket, QueuedRequest[]>();

  /**
   * Begins the request after all earlier ones on the connection have been answered. If too many wait, the connection is
   * closed.
   */
  add(socket: Socket, entry: QueuedRequest): void {
    const queue = this.#queueOf(socket);
    queue.push(entry);
    if (queue.length === 1) this.#beginFirst(socket, queue);
    else if (queue.length > mostUnanswered) socket.destroy();
  }

  /**
   * Ends the connection at this place in the order, because the request here was not sent completely. Later requests
   * are not served.
   */
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

  /** Returns the first unanswered response of a connection, in the order of its requests. */
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

/**
 * Ends connections on which a client is still sending, so that it reads its answer. A server that has answered a
 * request before all of it came, say one that is too large, closes the connection. If bytes of the client are left
 * unread then, the kernel resets it: the client fails with `EPIPE` or `ECONNRESET`, and what it was answered is lost.
 *
 * So our side is closed first, and what still comes is read and thrown away, up to a bound (RFC 9112, 9.6).
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes and time of reading after an answer: more than any body that we take needs, at the speed of clients. */
const usual = { bytes: 64 * 2 ** 20, ms: 30_000 };
/** Node throws a body away without an event for its bytes, so they are looked at so often. */
const lookMs = 50;

const drain = (socket: Socket, request: IncomingMessage, { bytes, ms }: typeof usual): void => {
  const most = socket.bytesRead + bytes;
  const until = performance.now() + ms;
  const end = (): void => {
    clearInterval(timer);
    socket.destroy();
  };
  const timer = setInterval(() => {
    if (socket.bytesRead > most || performance.now() > until) end();
  }, lookMs);
  request.once('end', end).once('close', end).resume();
  socket.once('close', end);
};

/** Has a server end its connections like this. Call it once its own listeners are there. */
export const lingerOn = (server: Server, bounds = usual): Server => {
  const last = new WeakMap<Socket, IncomingMessage>();
  const note = (request: IncomingMessage): void => {
    const { socket } = request;
    const isKnown = last.has(socket);
    last.set(socket, request);
    if (isKnown) return;
    const destroySoon = socket.destroySoon.bind(socket);
    // Node's server calls it when the last answer of a connection was written.
    socket.destroySoon = () => {
      const current = last.get(socket);
      const isSending = current !== undefined && !current.complete && !current.destroyed;
      if (!isSending || !socket.writable) return destroySoon();
      socket.end();
      drain(socket, current, bounds);
    };
  };
  const events = ['request', 'checkContinue', 'checkExpectation'];
  // A listener of ours alone would keep Node from answering an expectation by itself.
  for (const event of events.filter((name) => server.listenerCount(name) > 0)) {
    server.prependListener(event, note);
  }
  return server;
};

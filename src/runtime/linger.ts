/**
 * Closes connections on which a client is still sending, so that the client can read its answer.
 *
 * A server that answers before it has read the whole request, for example a request that is too large, closes the
 * connection. If bytes of the client are unread then, the kernel resets the connection. The client fails with `EPIPE`
 * or `ECONNRESET`, and the answer is lost. So the server first closes only its own side, then reads and discards the
 * rest, up to a limit (RFC 9112, 9.6).
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Maximum number of bytes, and maximum time in milliseconds, for reading after an answer. They suffice for any accepted
 * body at the speed of usual clients.
 */
const usual = { bytes: 64 * 2 ** 20, ms: 30_000 };
/** Interval at which the discarded bytes are counted, in milliseconds, since Node emits no event for them. */
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

/**
 * Makes a server close its connections as described above. Must be called after the server's own listeners are added.
 */
export const lingerOn = (server: Server, bounds = usual): Server => {
  const last = new WeakMap<Socket, IncomingMessage>();
  const note = (request: IncomingMessage): void => {
    const { socket } = request;
    const isKnown = last.has(socket);
    last.set(socket, request);
    if (isKnown) return;
    const destroySoon = socket.destroySoon.bind(socket);
    // Node's server calls this when the last answer of a connection was written.
    socket.destroySoon = () => {
      const current = last.get(socket);
      const isSending = current !== undefined && !current.complete && !current.destroyed;
      if (!isSending || !socket.writable) return destroySoon();
      socket.end();
      drain(socket, current, bounds);
    };
  };
  const events = ['request', 'checkContinue', 'checkExpectation'];
  // A listener is added only to events that already have one. If this were the only one, Node would no longer answer
  // `Expect` headers by itself.
  for (const event of events.filter((name) => server.listenerCount(name) > 0)) {
    server.prependListener(event, note);
  }
  return server;
};

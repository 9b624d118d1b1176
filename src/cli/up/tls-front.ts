/**
 * TLS proxies of `svc up --tls`: each listens with TLS in front of a program that does not use TLS. Traffic is passed
 * on as bytes, so answers, streams and WebSockets work unchanged. OpenSSL accepts no certificate for `*.localhost`, so
 * each session's host name gets a certificate of its own at the first request.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import {
  createSecureContext,
  createServer as createTlsServer,
  type SecureContext,
  type Server as TlsServer,
} from 'node:tls';
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';
import { readSurfaceLabel } from '#domain/surface-address.ts';
import { toErrorAnswer } from '#wire/errors.ts';
import type { Authority } from './authority.ts';

export type Fronts = {
  /**
   * Listens on a port of the loopback interface, in front of a program on another port. Throws `unavailable` if that
   * fails.
   */
  open(name: string, port: number, programPort: number): Promise<void>;
  /** Stops all proxies and closes their connections. */
  stop(): Promise<void>;
};

/** Timeout for a client's first bytes, and for its TLS handshake, in milliseconds. */
const handshakeMs = 10_000;
const mostConnections = 8_192;
/**
 * Maximum number and lifetime of cached certificates. A machine has fewer sessions, and a certificate is valid for
 * longer than it is cached.
 */
const remembered = { max: 1_000, ttl: 24 * 3_600_000 };
const own = ['localhost', '127.0.0.1', '::1'];

/** First byte of a TLS connection (RFC 8446, 5.1). */
const handshake = 22;

/**
 * Creates TLS contexts for the names that clients request. All names that belong to no session use the certificate of
 * the machine.
 */
const createContexts = (authority: Authority) => {
  const contexts = new LRUCache<string, Promise<SecureContext>>(remembered);
  const make = async (names: readonly string[]): Promise<SecureContext> =>
    createSecureContext(await authority.issue(names));
  return (asked: string | undefined): Promise<SecureContext> => {
    const name = asked?.toLowerCase() ?? '';
    const isOfSession = name.endsWith('.localhost') && readSurfaceLabel(name) !== undefined;
    const of = isOfSession && name.split('.').length === 2 ? name : '';
    const known = contexts.get(of);
    if (known !== undefined) return known;
    const made = make(of === '' ? own : [of]);
    contexts.set(of, made);
    made.catch(() => contexts.delete(of));
    return made;
  };
};

/** Formats the answer to a client that sends plain HTTP. */
const plainAnswer = (port: number): string => {
  const { status, body } = toErrorAnswer(
    new AppError('invalid', `this port serves https only: use https://127.0.0.1:${port}`),
  );
  const text = `${JSON.stringify(body)}\n`;
  return (
    `HTTP/1.1 ${status} Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
};

/**
 * Joins a client with the program until one of them ends. If one breaks off, the connection to the other is closed; no
 * error can be sent to it.
 */
const join = async (near: Socket, programPort: number): Promise<void> => {
  const far = connect({ host: '127.0.0.1', port: programPort, allowHalfOpen: true, noDelay: true });
  try {
    await Promise.all([pipeline(near, far), pipeline(far, near)]);
  } catch {
    far.destroy();
    near.destroy();
  }
};

const listen = (server: Server, name: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new AppError('unavailable', `cannot listen on 127.0.0.1:${port} (${name})`, { cause }),
      ),
    );
    server.listen({ host: '127.0.0.1', port }, () => resolve());
  });

/**
 * Creates proxies whose certificates are issued by the authority. Issues the certificate of the machine at once, so
 * that no client waits for it.
 */
export const createFronts = async (authority: Authority): Promise<Fronts> => {
  const contextOf = createContexts(authority);
  let standing = await authority.issue(own);
  const servers: Server[] = [];
  const secured: TlsServer[] = [];
  const sockets = new Set<Socket>();

  const makeServer = (port: number, programPort: number): Server => {
    const secure = createTlsServer({
      // Certificate for clients that send no host name, as for an address.
      ...standing,
      ALPNProtocols: ['http/1.1'],
      allowHalfOpen: true,
      handshakeTimeout: handshakeMs,
      SNICallback: (name, done) => {
        contextOf(name).then(
          (context) => done(null, context),
          (error: Error) => done(error),
        );
      },
    });
    secured.push(secure);
    secure.on('secureConnection', (socket) => void join(socket, programPort));
    secure.on('tlsClientError', (_, socket) => socket.destroy());
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      socket.setTimeout(handshakeMs, () => socket.destroy());
      socket.once('data', (first: Buffer) => {
        socket.setTimeout(0);
        if (first[0] !== handshake) return void socket.end(plainAnswer(port));
        socket.pause();
        socket.unshift(first);
        secure.emit('connection', socket);
      });
    });
  };

  const renew = async (): Promise<void> => {
    standing = await authority.issue(own);
    for (const secure of secured) secure.setSecureContext(standing);
  };
  // A failed renewal is repeated the next day, because certificates are valid for weeks.
  const renewing = setInterval(() => renew().catch(() => undefined), remembered.ttl);
  renewing.unref();

  return {
    async open(name, port, programPort) {
      const server = makeServer(port, programPort);
      server.maxConnections = mostConnections;
      await listen(server, name, port);
      servers.push(server);
    },
    async stop() {
      clearInterval(renewing);
      const closed = servers.map(
        (server) => new Promise<void>((resolve) => server.close(() => resolve())),
      );
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
};

/**
 * The encrypted side of `svc up --tls`: a port that speaks TLS before a program that does not. What comes through is
 * passed on as bytes, so answers, streams and WebSockets are the program's own. OpenSSL takes no certificate for
 * `*.localhost`, so each session's host name gets one of its own when it is first asked for.
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
  /** Listens on a port of the loopback, before a program on another. Throws `unavailable` when it cannot. */
  open(name: string, port: number, programPort: number): Promise<void>;
  /** Ends all of them with their connections. */
  stop(): Promise<void>;
};

/** A client's first bytes, and its handshake, come within this. */
const handshakeMs = 10_000;
const mostConnections = 8_192;
/** Sessions on one machine are fewer. A certificate is good for longer than it is remembered. */
const remembered = { max: 1_000, ttl: 24 * 3_600_000 };
const own = ['localhost', '127.0.0.1', '::1'];

/** The first byte of a TLS connection (RFC 8446, 5.1). */
const handshake = 22;

/** Certificates by the name that a client asks for; names that no session has share that of the machine. */
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

/** What a client is told that speaks HTTP in the clear. */
const plainAnswer = (port: number): string => {
  const { status, body } = toErrorAnswer(
    new AppError('invalid', `this port speaks https: ask https://127.0.0.1:${port}`),
  );
  const text = `${JSON.stringify(body)}\n`;
  return (
    `HTTP/1.1 ${status} Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
};

/** Joins a client with the program until one of them ends. Who breaks off ends both; there is nobody to tell. */
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

/** Makes fronts whose certificates are of an authority. The first one is made at once, so that it is not waited for. */
export const createFronts = async (authority: Authority): Promise<Fronts> => {
  const contextOf = createContexts(authority);
  let standing = await authority.issue(own);
  const servers: Server[] = [];
  const secured: TlsServer[] = [];
  const sockets = new Set<Socket>();

  const makeServer = (port: number, programPort: number): Server => {
    const secure = createTlsServer({
      // For clients that name no host, as for an address.
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
  // What fails today is tried again tomorrow: a certificate is good for weeks.
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

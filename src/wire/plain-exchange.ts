/**
 * Exchanges without TLS. Each uses a connection exclusively; the connection is then kept for the next exchange. Every
 * message between the programs of a machine goes through here.
 *
 * A world host sends few messages, and many hosts share a machine, so the caches of the processor rarely hold this
 * code. The cost of a message is then the amount of code that runs for it: Node's own client would be a quarter of the
 * whole cost of a call in its host. This module therefore writes a request at once, and parses the answer directly from
 * the bytes of the socket.
 */
import type * as Net from 'node:net';
import type { Socket } from 'node:net';
import { type AnswerReader, createAnswerReader, type ReadAnswer } from './answer-reader.ts';
import {
  type Callbacks,
  connectMs,
  lateConnection,
  type Sent,
  type Underway,
} from './exchanged.ts';

const net: typeof Net = process.getBuiltinModule('node:net');

/**
 * Idle time in milliseconds after which a connection is not used again, because its server may be about to close it.
 */
const idleMs = 4_000;
/** Size of the read buffer in bytes. */
const bufferBytes = 64 * 1024;

/** A connection; `callbacks` are those of its exchange, and undefined while it is idle. */
type Connection = {
  readonly socket: Socket;
  reader: AnswerReader | undefined;
  callbacks: Callbacks | undefined;
  idleSince: number;
};

/** Idle connections by origin, the most recently used one last. */
const idle = new Map<string, Connection[]>();

const hungUp = (): Error =>
  Object.assign(new Error('the server closed the connection before its answer was complete'), {
    code: 'ECONNRESET',
  });

const forget = (origin: string, connection: Connection): void => {
  const others = idle.get(origin)?.filter((one) => one !== connection) ?? [];
  if (others.length === 0) idle.delete(origin);
  else idle.set(origin, others);
};

/** Keeps a connection for the next exchange. An idle connection does not keep the process alive. */
const keep = (origin: string, connection: Connection): void => {
  connection.socket.unref();
  connection.idleSince = performance.now();
  const others = idle.get(origin);
  if (others === undefined) idle.set(origin, [connection]);
  else others.push(connection);
};

const fail = (connection: Connection, error: Error): void => {
  const { callbacks } = connection;
  connection.callbacks = undefined;
  connection.reader = undefined;
  callbacks?.failed(error);
};

const finish = (origin: string, connection: Connection, answer: ReadAnswer): void => {
  const { socket, callbacks } = connection;
  connection.callbacks = undefined;
  connection.reader = undefined;
  if (answer.keeps && socket.writable) keep(origin, connection);
  else socket.destroy();
  callbacks?.done(answer);
};

/** Handles received bytes. If no exchange waits for an answer, the connection is closed. */
const take = (origin: string, connection: Connection, bytes: Buffer): void => {
  try {
    if (connection.reader === undefined) throw hungUp();
    const answer = connection.reader.take(bytes);
    if (answer !== undefined) finish(origin, connection, answer);
  } catch (error) {
    connection.socket.destroy();
    fail(connection, error as Error);
  }
};

/** Address of a server. */
type Place = {
  origin: string;
  /** Value of the `Host` header. */
  host: string;
  hostname: string;
  port: number;
};

const placeOf = ({ origin, host, hostname, port }: URL): Place => ({
  origin,
  host,
  hostname: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? 80 : Number(port),
});

/** Cache of parsed server addresses, by the origin of an address. A program talks to few servers. */
const places = new Map<string, Place>();
const mostPlaces = 100;

/** Pattern of addresses that need no normalisation. `URL` parses all others. */
const plainAddress = /^(http:\/\/[\w.:-]+)(\/[\w/-]*(?:\?[\w=&-]+)?)$/;

/**
 * Returns the server and the request target of an address. The server is cached, because parsing the origin takes as
 * long as writing the message.
 */
const readAddress = (address: string): { place: Place; target: string } => {
  const [, base = '', target = ''] = plainAddress.exec(address) ?? [];
  const known = places.get(base);
  if (known !== undefined) return { place: known, target };
  const url = new URL(address);
  const place = placeOf(url);
  if (base !== '' && places.size < mostPlaces) places.set(base, place);
  return { place, target: url.pathname + url.search };
};

const open = ({ origin, hostname, port }: Place): Connection => {
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  const socket = net.connect({
    host: hostname,
    port,
    noDelay: true,
    onread: {
      buffer,
      callback: (count) => {
        take(origin, connection, buffer.subarray(0, count));
        return true;
      },
    },
  });
  const connection: Connection = { socket, reader: undefined, callbacks: undefined, idleSince: 0 };
  const timer = setTimeout(() => socket.destroy(lateConnection()), connectMs);
  socket.once('connect', () => clearTimeout(timer));
  socket.on('error', (error) => fail(connection, error));
  socket.on('close', () => {
    clearTimeout(timer);
    forget(origin, connection);
    const answer = connection.reader?.end();
    if (answer === undefined) fail(connection, hungUp());
    else finish(origin, connection, answer);
  });
  return connection;
};

/** Returns an idle connection that is recent enough, or else a new one. */
const connectionTo = (place: Place): Connection => {
  const waiting = idle.get(place.origin) ?? [];
  for (let last = waiting.pop(); last !== undefined; last = waiting.pop()) {
    if (last.socket.writable && performance.now() - last.idleSince < idleMs) {
      last.socket.ref();
      return last;
    }
    last.socket.destroy();
  }
  return open(place);
};

/** Characters that must not be in a header, because they would end it or be read as other characters. */
const unwritable = /[^\t\x20-\x7e]/;

const textOf = (host: string, target: string, { method, headers, body }: Sent): string => {
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${host}`];
  for (const [name, value] of Object.entries(headers)) {
    if (unwritable.test(value))
      throw new TypeError(`the header ${name} contains characters that cannot be sent`);
    lines.push(`${name}: ${value}`);
  }
  if (body !== undefined) lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
};

/** Starts an exchange. Throws if the request cannot be written; later errors go to `callbacks`. */
export const askPlainly = (address: string, sent: Sent, callbacks: Callbacks): Underway => {
  const { place, target } = readAddress(address);
  const text = textOf(place.host, target, sent);
  const connection = connectionTo(place);
  connection.callbacks = callbacks;
  connection.reader = createAnswerReader();
  connection.socket.write(text, 'utf8');
  return {
    cut(error) {
      if (connection.callbacks !== callbacks) return; // the connection serves another exchange by now
      connection.socket.destroy();
      fail(connection, error);
    },
  };
};

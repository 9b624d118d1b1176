/**
 * Exchanges without TLS, each over a connection that it has to itself, and that is kept for the next one.
 *
 * Every message between the programs of a machine goes through here. A world host sends few, beside many of its
 * kind, so that its code is never warm, and what a message costs is how much code there is to it: Node's own client
 * is a quarter of all that a call takes in its host. So a request is one write, and an answer is read from the
 * socket's bytes where they arrive.
 */
import type * as Net from 'node:net';
import type { Socket } from 'node:net';
import { type AnswerReader, createAnswerReader, type ReadAnswer } from './answer-reader.ts';
import { connectMs, lateConnection, type Sent, type Told, type Underway } from './exchanged.ts';

const net: typeof Net = process.getBuiltinModule('node:net');

/** A connection that waited longer is not used again: its server may be about to end it. */
const idleMs = 4_000;
/** What of an answer is read at a time. */
const bufferBytes = 64 * 1024;

/** A connection; who waits for what it brings, if anybody does. */
type Connection = {
  readonly socket: Socket;
  reader: AnswerReader | undefined;
  told: Told | undefined;
  idleSince: number;
};

/** Connections that wait to be used, by origin; the last one was used last. */
const idle = new Map<string, Connection[]>();

const hungUp = (): Error => Object.assign(new Error('the server hung up'), { code: 'ECONNRESET' });

const forget = (origin: string, connection: Connection): void => {
  const others = idle.get(origin)?.filter((one) => one !== connection) ?? [];
  if (others.length === 0) idle.delete(origin);
  else idle.set(origin, others);
};

/** Keeps a connection for the next exchange. It keeps no program from ending meanwhile. */
const keep = (origin: string, connection: Connection): void => {
  connection.socket.unref();
  connection.idleSince = performance.now();
  const others = idle.get(origin);
  if (others === undefined) idle.set(origin, [connection]);
  else others.push(connection);
};

const fail = (connection: Connection, error: Error): void => {
  const { told } = connection;
  connection.told = undefined;
  connection.reader = undefined;
  told?.failed(error);
};

const finish = (origin: string, connection: Connection, answer: ReadAnswer): void => {
  const { socket, told } = connection;
  connection.told = undefined;
  connection.reader = undefined;
  if (answer.keeps && socket.writable) keep(origin, connection);
  else socket.destroy();
  told?.done(answer);
};

/** Bytes have come; those that nobody has asked for end the connection. */
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

/** Where a server is. */
type Place = {
  origin: string;
  /** As the header has it. */
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

/** Places by the beginnings of addresses; a program speaks to few. */
const places = new Map<string, Place>();
const mostPlaces = 100;

/** Parts of an address that are the same however often they are read. What else there may be in one, `URL` reads. */
const plainAddress = /^(http:\/\/[\w.:-]+)(\/[\w/-]*(?:\?[\w=&-]+)?)$/;

/** Where an address leads, and what is asked for there. To read it anew with each message takes as long as to write that. */
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
  const connection: Connection = { socket, reader: undefined, told: undefined, idleSince: 0 };
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

/** A connection that waits, else a new one. */
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

/** What no header may hold: it would end there, or be read as another text. */
const unwritable = /[^\t\x20-\x7e]/;

const textOf = (host: string, target: string, { method, headers, body }: Sent): string => {
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${host}`];
  for (const [name, value] of Object.entries(headers)) {
    if (unwritable.test(value)) throw new TypeError(`the header ${name} cannot be sent as it is`);
    lines.push(`${name}: ${value}`);
  }
  if (body !== undefined) lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
};

/** Begins an exchange. Throws for what cannot be sent; all else is told later. */
export const askPlainly = (address: string, sent: Sent, told: Told): Underway => {
  const { place, target } = readAddress(address);
  const text = textOf(place.host, target, sent);
  const connection = connectionTo(place);
  connection.told = told;
  connection.reader = createAnswerReader();
  connection.socket.write(text, 'utf8');
  return {
    cut(error) {
      if (connection.told !== told) return; // it is another's by now
      connection.socket.destroy();
      fail(connection, error);
    },
  };
};

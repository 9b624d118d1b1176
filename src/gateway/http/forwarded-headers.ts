/**
 * Headers on their way through: those of one connection only are left behind, and the host is told who
 * asks and under which address. What a client claims about proxies before the gateway is believed as far
 * as the configuration says, and dropped beyond.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { entryKeyHeader } from '#runtime/surface-pass.ts';
import { valuesOf } from './target.ts';

/** Of one connection, whether `Connection` lists them or not (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Written by the gateway itself. */
const own = new Set([
  'content-length',
  'expect',
  entryKeyHeader,
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
]);

/** Never sent after a body, where they would change what was read before it. */
const notInTrailers = new Set([
  ...hopByHop,
  ...own,
  'authorization',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  'set-cookie',
]);

const via = '1.1 svc-gateway';

const listOf = (values: readonly string[]): string[] =>
  values
    .join(',')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');

/** Names and values in turn, without those that are left out. */
const without = (raw: readonly string[], isLeft: (name: string) => boolean): string[] => {
  const kept: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!isLeft(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
};

/** What `Connection` lists, in lower case. */
const connectionNames = (message: IncomingMessage): Set<string> => {
  const { connection } = message.headers;
  if (connection === undefined) return new Set();
  return new Set(listOf([connection]).map((name) => name.toLowerCase()));
};

export type Visitor = {
  /** Addresses from the client's own to that of the nearest proxy. */
  chain: string[];
  scheme: 'http' | 'https';
};

/** Who asks, with so many proxies before the gateway whose word counts. */
export const readVisitor = (
  request: IncomingMessage,
  { trustedHops, scheme }: { trustedHops: number; scheme: 'http' | 'https' },
): Visitor => {
  const peer = (request.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '');
  if (trustedHops === 0) return { chain: [peer], scheme };
  const chain = [...listOf(valuesOf(request, 'x-forwarded-for')), peer].slice(-(trustedHops + 1));
  const claims = listOf(valuesOf(request, 'x-forwarded-proto')).slice(-trustedHops);
  const claimed = claims.at(0)?.toLowerCase();
  return { chain, scheme: claimed === 'http' || claimed === 'https' ? claimed : scheme };
};

/** An address as `Forwarded` wants it (RFC 7239). */
const nodeOf = (address: string): string => {
  const version = isIP(address);
  if (version === 0) return 'unknown';
  return version === 6 ? `"[${address}]"` : address;
};

const forwardedOf = ({ chain, scheme }: Visitor, host: string): string => {
  const [client = 'unknown', ...proxies] = chain.map(nodeOf);
  const rest = proxies.map((proxy) => `for=${proxy}`);
  return [`for=${client};host="${host}";proto=${scheme}`, ...rest].join(', ');
};

/** Whether a request brings a body, be it an empty one. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const framingOf = (request: IncomingMessage): string[] => {
  const { 'content-length': length, 'transfer-encoding': coding, trailer } = request.headers;
  if (coding !== undefined) {
    return ['transfer-encoding', 'chunked', ...(trailer === undefined ? [] : ['trailer', trailer])];
  }
  if (length !== undefined) return ['content-length', length];
  const isUsual = ['POST', 'PUT', 'PATCH'].includes(request.method ?? '');
  return isUsual ? ['content-length', '0'] : [];
};

/** Without the cookie of this name, which is the gateway's own. */
const hideCookie = (headers: string[], name: string): string[] => {
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [header = '', value = ''] = headers.slice(index, index + 2);
    if (header.toLowerCase() !== 'cookie') {
      kept.push(header, value);
      continue;
    }
    const others = value.split(';').filter((pair) => pair.trim().split('=', 1)[0] !== name);
    if (others.length > 0) kept.push(header, others.join(';').trim());
  }
  return kept;
};

export type Passage = {
  /** The `Host` under which the client asked: the world's links are made of it. */
  host: string;
  visitor: Visitor;
  /** A cookie that the host is not to see. */
  hiddenCookie: string | undefined;
  /** What the host asks for at a surface for people. */
  entryKey: string | undefined;
  /** The client asks to be told before it sends its body. */
  expectsContinue: boolean;
  /** The protocol that it wants to change to. */
  upgrade: string | undefined;
};

/** The headers of a request for its host, as names and values in turn. */
export const requestHeaders = (request: IncomingMessage, passage: Passage): string[] => {
  const { host, visitor, hiddenCookie, entryKey, expectsContinue, upgrade } = passage;
  const listed = connectionNames(request);
  const isLeft = (name: string) => hopByHop.has(name) || own.has(name) || listed.has(name);
  const kept = without(request.rawHeaders, isLeft);
  return [
    'host',
    host,
    ...(hiddenCookie === undefined ? kept : hideCookie(kept, hiddenCookie)),
    ...framingOf(request),
    ...(expectsContinue ? ['expect', '100-continue'] : []),
    ...(upgrade === undefined ? [] : ['connection', 'Upgrade', 'upgrade', upgrade]),
    ...(entryKey === undefined ? [] : [entryKeyHeader, entryKey]),
    'via',
    via,
    'x-forwarded-for',
    visitor.chain.join(', '),
    'x-forwarded-host',
    host,
    'x-forwarded-proto',
    visitor.scheme,
    'forwarded',
    forwardedOf(visitor, host),
  ];
};

/** The headers of an answer for its client. Trailers are announced where they can be sent. */
export const responseHeaders = (
  answer: IncomingMessage,
  { hasTrailers, isLast }: { hasTrailers: boolean; isLast: boolean },
): string[] => {
  const listed = connectionNames(answer);
  const { trailer } = answer.headers;
  return [
    ...without(answer.rawHeaders, (name) => hopByHop.has(name) || listed.has(name)),
    ...(hasTrailers && trailer !== undefined ? ['trailer', trailer] : []),
    'via',
    via,
    ...(isLast ? ['connection', 'close'] : []),
  ];
};

/** Trailers, as pairs, without those that may not come after a body. */
export const trailersOf = ({ rawTrailers }: IncomingMessage): [string, string][] => {
  const kept = without(rawTrailers, (name) => notInTrailers.has(name));
  return Array.from({ length: kept.length / 2 }, (_, index) => [
    kept[2 * index] ?? '',
    kept[2 * index + 1] ?? '',
  ]);
};

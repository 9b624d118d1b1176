/**
 * Builds the headers of relayed requests and answers. Hop-by-hop headers are dropped, and the host receives the
 * client's address and the host name that the client used. Claims about proxies in front of the gateway are trusted
 * for as many hops as the configuration names; earlier ones are dropped.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { entryKeyHeader } from '#runtime/surface-pass.ts';
import { valuesOf } from './target.ts';

/** Hop-by-hop headers, dropped even if `Connection` does not list them (RFC 9110, 7.6.1). */
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

/** Headers that the gateway writes itself; the client's own are dropped. */
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

/** Headers never sent as trailers: after a body they would change the meaning of the message already read. */
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

/** Returns raw headers (names and values alternating) without the headers for which `isLeft` returns true. */
const without = (raw: readonly string[], isLeft: (name: string) => boolean): string[] => {
  const kept: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!isLeft(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
};

/** Returns the names that `Connection` lists, in lower case. */
const connectionNames = (message: IncomingMessage): Set<string> => {
  const { connection } = message.headers;
  if (connection === undefined) return new Set();
  return new Set(listOf([connection]).map((name) => name.toLowerCase()));
};

export type Visitor = {
  /** IP addresses on the request's way, from the client to the nearest proxy. */
  chain: string[];
  scheme: 'http' | 'https';
};

/**
 * Reads the client's address and scheme. Trusts the claims of the nearest `trustedHops` proxies and ignores those
 * before them.
 */
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

/** Formats an address as a node of the `Forwarded` header (RFC 7239). */
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

/** Returns true if a request has a body, which may be empty when it is chunked. */
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

/** Removes the gateway's own cookie, which has this name. */
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
  /** `Host` under which the client sent the request. The world builds its links from it. */
  host: string;
  visitor: Visitor;
  /** Name of a cookie that is hidden from the host. */
  hiddenCookie: string | undefined;
  /** Key that the host requires from the gateway at a surface for people. */
  entryKey: string | undefined;
  /** True if the client waits for `100 Continue` before it sends its body. */
  expectsContinue: boolean;
  /** Protocol that the client wants to switch to. */
  upgrade: string | undefined;
};

/** Builds the headers of a request to the host, as names and values alternating. */
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

/** Builds the headers of an answer to the client. Announces trailers if they can be sent. */
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

/** Returns the trailers as pairs, without those that must not follow a body. */
export const trailersOf = ({ rawTrailers }: IncomingMessage): [string, string][] => {
  const kept = without(rawTrailers, (name) => notInTrailers.has(name));
  return Array.from({ length: kept.length / 2 }, (_, index) => [
    kept[2 * index] ?? '',
    kept[2 * index + 1] ?? '',
  ]);
};

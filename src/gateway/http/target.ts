/**
 * Finds the target of a request: a surface of a session, by the `Host` header, or the gateway itself. Requests with an
 * ambiguous target or framing are refused. A host that parsed such a request differently would treat a part of it as
 * another request (request smuggling).
 */
import type { IncomingMessage } from 'node:http';
import type { SurfaceKind } from '#domain/session.ts';
import { readSurfaceHost, type SurfaceTemplate } from '#domain/surface-address.ts';
import { badRequest, noSuchLabel, type Refusal } from './refusals.ts';

/** Request for a surface. `path` is its path and query, `host` its `Host` header as the client sent it. */
export type SurfaceTarget = {
  kind: 'surface';
  sessionId: string;
  surface: SurfaceKind;
  host: string;
  path: string;
};

/** Request for the MCP server of a session, which the control plane serves. */
export type McpTarget = { kind: 'mcp'; sessionId: string; host: string; path: string };

export type Target =
  | SurfaceTarget
  | McpTarget
  | { kind: 'own'; path: string }
  | { kind: 'refused'; refusal: Refusal };

const hostForm = /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Returns true if requests of this method only read (RFC 9110, 9.2.1). */
export const isSafe = (method: string | undefined): boolean =>
  method !== undefined && ['GET', 'HEAD', 'OPTIONS'].includes(method);

/** Returns the values of a header, one for each time that it was sent. */
export const valuesOf = (request: IncomingMessage, name: string): string[] => {
  const { rawHeaders } = request;
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
};

/** Returns the one host that a request names, or what is wrong with it. */
const readHost = (request: IncomingMessage): { host: string } | { wrong: string } => {
  const [host, ...others] = valuesOf(request, 'host');
  if (host === undefined) return { wrong: 'the request has no Host header' };
  if (others.length > 0)
    return { wrong: 'the request has several Host headers, but must have one' };
  return hostForm.test(host) ? { host } : { wrong: 'the Host header is not a valid host' };
};

/**
 * Returns the path and query of a request. Returns undefined if its URL is absolute, as for a forward proxy, and names
 * another host than the `Host` header.
 */
const readPath = ({ url = '', method }: IncomingMessage, host: string): string | undefined => {
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return url;
  const [, authority, path = ''] = /^https?:\/\/([^/?#]+)([/?].*)?$/i.exec(url) ?? [];
  if (authority?.toLowerCase() !== host.toLowerCase()) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
};

/** Returns what is wrong with the framing of a body; undefined if nothing is. */
const framingFault = (request: IncomingMessage): string | undefined => {
  const codings = valuesOf(request, 'transfer-encoding');
  const lengths = valuesOf(request, 'content-length');
  if (codings.length > 0 && lengths.length > 0) {
    return 'a request may have Content-Length or Transfer-Encoding, not both';
  }
  if (lengths.length > 1 || (lengths[0] !== undefined && !/^\d+$/.test(lengths[0]))) {
    return 'Content-Length is not a single number';
  }
  if (codings.length === 0) return undefined;
  if (request.httpVersion !== '1.1') return 'Transfer-Encoding requires HTTP/1.1';
  const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
  return isChunked ? undefined : 'the Transfer-Encoding is not supported; only chunked is';
};

/** HTTP versions that are served. Node's parser also accepts others, and parses them as 1.1. */
const versions = ['1.0', '1.1'];

const refused = (message: string): Target => ({ kind: 'refused', refusal: badRequest(message) });

/** Reads the target of a request. */
export const readTarget = (request: IncomingMessage, template: SurfaceTemplate): Target => {
  if (!versions.includes(request.httpVersion))
    return refused("the request's HTTP version is not supported; 1.0 and 1.1 are");
  const fault = framingFault(request);
  if (fault !== undefined) return refused(fault);
  const read = readHost(request);
  if ('wrong' in read) return refused(read.wrong);
  const { host } = read;
  const path = readPath(request, host);
  if (path === undefined) return refused('the request names another host than its Host header');
  const name = readSurfaceHost(template, host);
  if (name === undefined) return { kind: 'own', path };
  if ('label' in name) return { kind: 'refused', refusal: noSuchLabel(name.label) };
  const { sessionId, surface } = name;
  if (surface === 'mcp') return { kind: 'mcp', sessionId, host, path };
  return { kind: 'surface', sessionId, surface, host, path };
};

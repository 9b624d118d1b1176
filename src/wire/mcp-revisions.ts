/**
 * Supported revisions of MCP, and the ways in which a request names its revision. Up to revision 2025-11-25 a client
 * agrees on a revision by `initialize` (the protocol calls this "legacy"). Since revision 2026-07-28 each request names
 * its revision, there is no handshake, and headers repeat parts of the message ("modern").
 */
import { isObject } from '#domain/json.ts';

/** Revisions that a client agrees on by `initialize`, as the SDK lists them; it offers the newest of these. */
export const handshakeVersions = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;
export const statelessVersions = ['2026-07-28'] as const;
export const spokenVersions: readonly string[] = [...statelessVersions, ...handshakeVersions];

/** Revision of a request that names none. */
export const unnamedVersion = '2025-03-26';
/** First revision without batches of messages. */
export const unbatchedVersion = '2025-06-18';

/** Names of request headers, in lower case. */
export const headerNames = {
  version: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
} as const;

const prefix = 'io.modelcontextprotocol/';
/** Members of `_meta` that the protocol defines. */
export const metaKeys = {
  version: `${prefix}protocolVersion`,
  capabilities: `${prefix}clientCapabilities`,
  server: `${prefix}serverInfo`,
} as const;

type Message = { method?: string; params?: unknown };

export const isStateless = (version: unknown): boolean =>
  statelessVersions.some((one) => one === version);

/** Returns `_meta` of a message's parameters; undefined if there is none. */
export const metaOf = ({ params }: Message): Record<string, unknown> | undefined =>
  isObject(params) && isObject(params._meta) ? params._meta : undefined;

/** Returns the revision that a message itself names. */
export const versionOf = (message: Message): unknown => metaOf(message)?.[metaKeys.version];

/** Methods that repeat a parameter in the header `Mcp-Name`, with that parameter. */
const namedBy = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
]);

/** Returns the text that the header `Mcp-Name` repeats; undefined if the method has none. */
export const repeatedName = ({ method = '', params }: Message): string | undefined => {
  const member = namedBy.get(method);
  const name = member === undefined || !isObject(params) ? undefined : params[member];
  return typeof name === 'string' ? name : undefined;
};

const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;
/** Pattern of texts that a header carries unencoded: visible ASCII, with spaces inside. */
const plain = /^[!-~](?:[ -~]*[!-~])?$/;

/** Encodes a text for a header. */
export const encodeHeader = (text: string): string =>
  plain.test(text) && !encoded.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** Decodes the text of a header. */
export const decodeHeader = (value: string): string => {
  const [, base64] = encoded.exec(value) ?? [];
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString('utf8');
};

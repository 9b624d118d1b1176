/**
 * Checks a request of Streamable HTTP: its headers and the protocol revision that it names. From revision 2026-07-28
 * on, it also checks that the headers repeat what the message contains. A refusal has the id of the refused request.
 */
import { isObject } from '#domain/json.ts';
import {
  decodeHeader,
  isStateless,
  metaKeys,
  metaOf,
  repeatedName,
  spokenVersions,
  unbatchedVersion,
  unnamedVersion,
  versionOf,
} from '#wire/mcp-revisions.ts';
import type { RpcMessage } from '#wire/public-api/sessions/mcp-operations.ts';
import type { KeptMessages } from '../base/bodies/rpc.ts';
import { isStatelessMethod } from './stateless.ts';

export type McpHeaders = {
  accept?: string | undefined;
  'mcp-protocol-version'?: string | undefined;
  'mcp-method'?: string | undefined;
  'mcp-name'?: string | undefined;
};

export type RpcError = { code: number; message: string; data?: unknown };

/** Error that is sent instead of an answer. Its `id` is null if it does not refer to a single request. */
export type Refusal = {
  status: 400 | 404 | 406;
  body: { jsonrpc: '2.0'; id: string | number | null; error: RpcError };
};

/** Error codes of JSON-RPC and, from -32020 down, of MCP. */
const codes = {
  invalidRequest: -32_600,
  noMethod: -32_601,
  invalidParams: -32_602,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

const types = ['application/json', 'text/event-stream'];

type Fault = { status: Refusal['status']; error: RpcError };

const fault = (code: number, message: string, data?: object): Fault => ({
  status: code === codes.noMethod ? 404 : 400,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

const checkAccept = ({ accept = '' }: McpHeaders): Fault | undefined => {
  const named = accept.toLowerCase();
  if (types.every((type) => named.includes(type))) return undefined;
  const message = `the header Accept must name ${types.join(' and ')}: the answer has one of these types`;
  return { status: 406, error: { code: codes.invalidRequest, message } };
};

/** Checks that a header has the value that the message has. */
const checkHeader = (
  name: string,
  given: string | undefined,
  wanted: string,
): Fault | undefined => {
  if (given === wanted) return undefined;
  const found = given === undefined ? 'is absent' : `is ${JSON.stringify(given)}`;
  return fault(
    codes.headerMismatch,
    `the header ${name} ${found}, and the message has ${JSON.stringify(wanted)}`,
  );
};

const notAs = (key: string, wanted: string): Fault =>
  fault(codes.invalidParams, `params._meta["${key}"] must be ${wanted}`);

/** Checks what revision 2026-07-28 requires of a request; the caller checks that the revision is supported. */
const checkStateless = (headers: McpHeaders, message: RpcMessage): Fault | undefined => {
  const { method = '' } = message;
  const meta = metaOf(message) ?? {};
  const { [metaKeys.version]: version, [metaKeys.capabilities]: abilities } = meta;
  if (typeof version !== 'string') return notAs(metaKeys.version, 'a text');
  if (!isObject(abilities)) return notAs(metaKeys.capabilities, 'an object');
  const wrong =
    checkHeader('MCP-Protocol-Version', headers['mcp-protocol-version'], version) ??
    checkHeader('Mcp-Method', headers['mcp-method'], method);
  if (wrong !== undefined) return wrong;
  if (!isStatelessMethod(method))
    return fault(codes.noMethod, `this server has no method ${JSON.stringify(method)}`);
  const name = repeatedName(message);
  if (name === undefined) return undefined;
  const given = headers['mcp-name'];
  return checkHeader('Mcp-Name', given === undefined ? given : decodeHeader(given), name);
};

const unsupported = (version: string): Fault =>
  fault(
    codes.unsupportedVersion,
    `MCP ${JSON.stringify(version)} is not supported; supported are ${spokenVersions.join(', ')}`,
    { supported: spokenVersions, requested: version },
  );

/** Checks a message outside a batch. Its revision is the one that the message or the header names. */
const checkSingle = (headers: McpHeaders, message: RpcMessage): Fault | undefined => {
  // A client that sends `initialize` cannot know yet which revisions are supported: the answer offers one.
  if (message.method === 'initialize') return undefined;
  const header = headers['mcp-protocol-version'];
  const version = versionOf(message) ?? header ?? unnamedVersion;
  if (typeof version !== 'string') return notAs(metaKeys.version, 'a text');
  if (!spokenVersions.includes(version)) return unsupported(version);
  if (header !== undefined && header !== version)
    return checkHeader('MCP-Protocol-Version', header, version);
  const isRequest = message.id !== undefined && message.method !== undefined;
  return isRequest && isStateless(version) ? checkStateless(headers, message) : undefined;
};

const checkBatch = (
  { 'mcp-protocol-version': version = unnamedVersion }: McpHeaders,
  { messages }: KeptMessages,
): Fault | undefined => {
  if (!spokenVersions.includes(version)) return unsupported(version);
  const own = messages.map(({ message }) => versionOf(message)).find((one) => one !== undefined);
  const named = typeof own === 'string' ? own : version;
  return named < unbatchedVersion
    ? undefined
    : fault(
        codes.invalidRequest,
        `MCP ${named} has no batches: send each message in a request of its own`,
      );
};

/** Returns the refusal of a request; undefined if the request may be served. */
export const checkRequest = (headers: McpHeaders, kept: KeptMessages): Refusal | undefined => {
  const [first] = kept.messages;
  const single = kept.isBatch || first === undefined ? undefined : first.message;
  const found =
    checkAccept(headers) ??
    (single === undefined ? checkBatch(headers, kept) : checkSingle(headers, single));
  if (found === undefined) return undefined;
  const id = single?.method === undefined ? undefined : single.id;
  return { status: found.status, body: { jsonrpc: '2.0', id: id ?? null, error: found.error } };
};

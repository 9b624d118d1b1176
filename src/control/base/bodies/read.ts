/**
 * Reads the body of a request to one operation: converts its bytes to the form that the handler gets. Small bodies are
 * read on the event loop that all requests share, large ones in a child process.
 */
import type { FieldProblem } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { checkProtobufMetrics, readProtobufForm } from '#observability/otlp/protobuf-form.ts';
import { isPublicAccess } from '#wire/access.ts';
import * as adminApi from '#wire/admin-api/operations.ts';
import * as gatewayApi from '#wire/gateway-api/operations.ts';
import * as hostApi from '#wire/host-api/operations.ts';
import { type Extent, measureJson } from '#wire/json-extent.ts';
import { type OperationShape, operationsOf } from '#wire/operation.ts';
import * as poolApi from '#wire/pool-api/operations.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import { type Check, checkOfBody } from './check.ts';
import { checkExtent } from './extent.ts';
import { inflateChecked } from './inflate.ts';
import { type KeepOptions, keepExport, keepers } from './keep.ts';
import { withoutNulls } from './nulls.ts';
import { parseEntries, parseText, textOfBody } from './parse.ts';

/** Result of reading a body. If there are problems, `body` is undefined. */
export type ReadBody = { problems: FieldProblem[]; body: unknown };

const operations = new Map(
  [publicApi, hostApi, poolApi, gatewayApi, adminApi]
    .flatMap(operationsOf)
    .map((shape) => [shape.id, shape] as const),
);

const checks = new Map<string, Check>();

const none: Check = () => [];

/** Returns the check of an operation's body. It is created at first use. */
const checkOf = (id: string): Check => {
  const schema = operations.get(id)?.body;
  const known = checks.get(id) ?? (schema === undefined ? none : checkOfBody(schema));
  checks.set(id, known);
  return known;
};

const keep = (id: string, body: unknown, options: KeepOptions): unknown => {
  const keeper = (keepers as Record<string, (body: never, options: KeepOptions) => unknown>)[id];
  return keeper === undefined || body === undefined ? body : keeper(body as never, options);
};

type Members = Record<string, unknown>;

/**
 * Returns the value without the members that its schema does not name, because these need not be sent between
 * processes.
 */
const declaredOf = (schema: Members | undefined, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { properties } = (schema ?? {}) as { properties?: Record<string, Members> };
  if (properties === undefined) return value;
  const named = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(
    named.map(([name, member]) => [name, declaredOf(member, (value as Members)[name])]),
  );
};

/**
 * Returns true if the operation's bodies are JSON-RPC. In JSON-RPC, null has a meaning, for example as the id of a
 * message.
 */
const isRpc = ({ access }: OperationShape): boolean => access === 'mcp' || access === 'session';

/**
 * Returns the value in the form that the operation accepts. In bodies from clients of the public API, null means
 * "absent".
 */
const accept = (id: string, value: unknown): unknown => {
  const operation = operations.get(id);
  return operation !== undefined && isPublicAccess(operation.access) && !isRpc(operation)
    ? withoutNulls(operation.body as Members | undefined, value)
    : value;
};

/** Operations that accept or refuse the entries of a body one by one. */
const byEntry = ['ingest', 'ingestSpans', 'ingestMetrics'];

/** Parses a body. If the operation accepts or refuses entries one by one, adds their check to the options. */
const parse = (id: string, text: string, extent: Extent, options: KeepOptions) => {
  if (!byEntry.includes(id)) return { value: accept(id, parseText(text, extent)), options };
  const { value, faultOf } = parseEntries(text, extent);
  return { value, options: { ...options, faultOf } };
};

const readText = (id: string, text: string, extent: Extent, given: KeepOptions): ReadBody => {
  const { value, options } = parse(id, text, extent, given);
  const problems = checkOf(id)(value);
  if (problems.length > 0) return { problems, body: undefined };
  return { problems, body: keep(id, value, options) };
};

/** Returns the result for a missing body, which is a problem if the operation requires a body. */
const readNothing = (id: string): ReadBody => ({
  problems: checkOf(id)(undefined),
  body: undefined,
});

/** Functions that read protobuf bodies, by operation. Each returns the form that the handler gets. */
const protobufReaders: Readonly<
  Record<string, (bytes: Uint8Array, options: KeepOptions) => unknown>
> = {
  ingestSpans: (bytes, options) => keepExport(readProtobufForm(bytes), options),
  ingestMetrics: checkProtobufMetrics,
};

const readProtobuf = (id: string, bytes: Uint8Array, options: KeepOptions): ReadBody => {
  checkExtent(id, options.form, bytes);
  return { problems: [], body: protobufReaders[id]?.(bytes, options) };
};

const readWhole = (id: string, bytes: Uint8Array, options: KeepOptions): ReadBody => {
  if (options.form === 'protobuf') return readProtobuf(id, bytes, options);
  checkExtent(id, options.form, bytes);
  const text = textOfBody(bytes);
  if (text === undefined) return readNothing(id);
  const { problems, body } = readText(id, text, measureJson(text), options);
  if (id in keepers) return { problems, body };
  return { problems, body: declaredOf(operations.get(id)?.body as Members | undefined, body) };
};

/**
 * Result of reading a body in a child process. `tooMuch` is the message for the status 413, set if the body exceeds a
 * limit.
 */
export type ReadApart = ReadBody & { tooMuch?: string };

type Given = {
  operation: string;
  bytes: Uint8Array;
  inflatesTo?: number | undefined;
} & KeepOptions;

const isTooMuch = (error: unknown): error is Error =>
  (error as { statusCode?: unknown }).statusCode === 413;

/** Reads a body of any size. Runs in the child process to which the body was sent. */
export const readApart = async ({
  operation,
  bytes,
  inflatesTo,
  ...options
}: Given): Promise<ReadApart> => {
  try {
    const look = (beginning: Uint8Array) => checkExtent(operation, options.form, beginning);
    const whole = inflatesTo === undefined ? bytes : await inflateChecked(bytes, inflatesTo, look);
    return readWhole(operation, whole, { ...options, isApart: true });
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    return { problems: [], body: undefined, tooMuch: error.message };
  }
};

/** Reads a small body. Returns undefined if the body is too large to be read on the shared event loop. */
export const readSmall = (
  id: string,
  bytes: Uint8Array | undefined,
  options: KeepOptions,
): ReadBody | undefined => {
  if (options.form === 'protobuf') {
    const { byteLength = 0 } = bytes ?? {};
    if (byteLength > limits.directProtobufBytes) return undefined;
    return readProtobuf(id, bytes ?? new Uint8Array(), options);
  }
  if (bytes === undefined) return readNothing(id);
  if (bytes.byteLength > limits.directBodyBytes) return undefined;
  checkExtent(id, options.form, bytes);
  const text = textOfBody(bytes);
  if (text === undefined) return readNothing(id);
  const extent = measureJson(text);
  if (extent.values > limits.directBodyValues) return undefined;
  return readText(id, text, extent, options);
};

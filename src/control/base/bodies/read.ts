/**
 * Reads the body of a request to one operation: from its bytes to what the handler is given. It runs on
 * the loop that all requests share where the body is small, and in a process of its own where it is not.
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
import { holdToExtent } from './extent.ts';
import { inflateLooking } from './inflate.ts';
import { type KeepOptions, keepExport, keepers } from './keep.ts';
import { withoutNulls } from './nulls.ts';
import { parseEntries, parseText, textOfBody } from './parse.ts';

/** The outcome. A body with problems is reported and not handed on. */
export type ReadBody = { problems: FieldProblem[]; body: unknown };

const operations = new Map(
  [publicApi, hostApi, poolApi, gatewayApi, adminApi]
    .flatMap(operationsOf)
    .map((shape) => [shape.id, shape] as const),
);

const checks = new Map<string, Check>();

const none: Check = () => [];

/** The check of an operation's body, compiled when it is first asked for. */
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

/** The value without members that its schema does not name: what nobody asked for need not travel. */
const declaredOf = (schema: Members | undefined, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { properties } = (schema ?? {}) as { properties?: Record<string, Members> };
  if (properties === undefined) return value;
  const named = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(
    named.map(([name, member]) => [name, declaredOf(member, (value as Members)[name])]),
  );
};

/** JSON-RPC has nulls of its own, such as the id of a message. */
const isRpc = ({ access }: OperationShape): boolean => access === 'mcp' || access === 'session';

/** The value as its operation takes it. To clients of the public API, null and absent are the same. */
const accept = (id: string, value: unknown): unknown => {
  const operation = operations.get(id);
  return operation !== undefined && isPublicAccess(operation.access) && !isRpc(operation)
    ? withoutNulls(operation.body as Members | undefined, value)
    : value;
};

/** Operations that take or refuse each entry of their bodies by itself. */
const byEntry = ['ingest', 'ingestSpans', 'ingestMetrics'];

/** The value of a body, and how it is kept. */
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

/** What is read where there is no body. */
const readNothing = (id: string): ReadBody => ({
  problems: checkOf(id)(undefined),
  body: undefined,
});

/** Operations that take protobuf read it straight to what their handlers are given. */
const protobufReaders: Readonly<
  Record<string, (bytes: Uint8Array, options: KeepOptions) => unknown>
> = {
  ingestSpans: (bytes, options) => keepExport(readProtobufForm(bytes), options),
  ingestMetrics: checkProtobufMetrics,
};

const readProtobuf = (id: string, bytes: Uint8Array, options: KeepOptions): ReadBody => {
  holdToExtent(id, options.form, bytes);
  return { problems: [], body: protobufReaders[id]?.(bytes, options) };
};

const readWhole = (id: string, bytes: Uint8Array, options: KeepOptions): ReadBody => {
  if (options.form === 'protobuf') return readProtobuf(id, bytes, options);
  holdToExtent(id, options.form, bytes);
  const text = textOfBody(bytes);
  if (text === undefined) return readNothing(id);
  const { problems, body } = readText(id, text, measureJson(text), options);
  if (id in keepers) return { problems, body };
  return { problems, body: declaredOf(operations.get(id)?.body as Members | undefined, body) };
};

/** The outcome of reading in a process of its own; with what it holds too much of, if so. */
export type ReadApart = ReadBody & { tooMuch?: string };

type Given = {
  operation: string;
  bytes: Uint8Array;
  inflatesTo?: number | undefined;
} & KeepOptions;

const isTooMuch = (error: unknown): error is Error =>
  (error as { statusCode?: unknown }).statusCode === 413;

/** Reads a body in the process that it is given to, however large it is. */
export const readApart = async ({
  operation,
  bytes,
  inflatesTo,
  ...options
}: Given): Promise<ReadApart> => {
  try {
    const look = (beginning: Uint8Array) => holdToExtent(operation, options.form, beginning);
    const whole = inflatesTo === undefined ? bytes : await inflateLooking(bytes, inflatesTo, look);
    return readWhole(operation, whole, { ...options, isApart: true });
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    return { problems: [], body: undefined, tooMuch: error.message };
  }
};

/** Reads a body that is small; undefined for one that is not to be read here. */
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
  holdToExtent(id, options.form, bytes);
  const text = textOfBody(bytes);
  if (text === undefined) return readNothing(id);
  const extent = measureJson(text);
  if (extent.values > limits.directBodyValues) return undefined;
  return readText(id, text, extent, options);
};

/**
 * Builds MCP tools from operations: path, query and body of an operation become the arguments, and its answer becomes
 * the result. The tool uses the operation's schemas, access and handler, so nothing is declared twice. A tool's request
 * is checked and performed like an HTTP request.
 */
import { suggestName } from '#language/read/suggest.ts';
import { isReadAccess } from '#wire/access.ts';
import type { OperationShape, ToolShape } from '#wire/operation.ts';
import { objectText } from '../base/bodies/rpc.ts';
import { invalidParameter } from '../platform/lists/query.ts';

type Schema = Record<string, unknown>;
type Members = Record<string, Schema>;

/** Request as an HTTP server receives it: texts in path, query and headers, the body as bytes. */
export type ToolRequest = {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  bytes: Uint8Array | undefined;
};

export type ServiceTool = {
  name: string;
  operation: OperationShape;
  failed: ToolShape['failed'];
  /** Entry of the tool in `tools/list`, as JSON text. */
  json: string;
  /** Builds the request from the JSON texts of the arguments, by name; throws `invalid` for an unknown argument. */
  request(argumentTexts: Readonly<Record<string, string>>): ToolRequest;
};

/** Name of the argument that becomes the `Idempotency-Key` header. */
const keyArgument = 'idempotencyKey';
const keyHeader = 'idempotency-key';

/** Maximum length of an argument in path, query or header, in characters. Longer values can only be sent in bodies. */
const mostAddressChars = 128 * 1024;

type Place = { part: 'path' | 'query' | 'header' | 'body' | 'input'; member: string };

/** Argument of a tool, with its place in the request and its schema. */
type Argument = Place & { schema: Schema; isRequired: boolean };

const membersOf = (schema: unknown): { members: Members; required: string[] } => {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Members;
    required?: string[];
  };
  return { members: properties, required };
};

const partOf = (
  part: Place['part'],
  schema: unknown,
  nameOf = (member: string) => member,
): [string, Argument][] => {
  const { members, required } = membersOf(schema);
  return Object.entries(members).map(([member, inner]) => [
    nameOf(member),
    { part, member, schema: inner, isRequired: required.includes(member) },
  ]);
};

/** Returns the arguments in the order in which they are listed: those of the path come first. */
const argumentsOf = (operation: OperationShape, tool: ToolShape): Map<string, Argument> => {
  const { params, query, headers, body } = operation;
  const inBody =
    tool.call?.input === undefined
      ? partOf('body', body, (member) => tool.as?.[member] ?? member).filter(
          ([name]) => tool.call === undefined || name !== 'kind',
        )
      : partOf('input', tool.call.input);
  const key = membersOf(headers).members[keyHeader];
  const all = [
    ...partOf('path', params),
    ...inBody,
    ...partOf('query', query),
    ...(key === undefined
      ? []
      : [
          [
            keyArgument,
            { part: 'header', member: keyHeader, schema: key, isRequired: false },
          ] satisfies [string, Argument],
        ]),
  ];
  const found = new Map(all);
  if (found.size < all.length)
    throw new Error(`two arguments of the tool ${tool.name} have the same name`);
  return found;
};

/** Returns the schemas of query members whose names are given by a pattern, keyed by the pattern. */
const patternsOf = ({ query }: OperationShape): Record<string, unknown> => {
  const { patternProperties } = (query ?? {}) as { patternProperties?: Record<string, unknown> };
  return patternProperties ?? {};
};

const inputSchemaOf = (operation: OperationShape, args: Map<string, Argument>): Schema => {
  const patterns = patternsOf(operation);
  const required = [...args].filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries([...args].map(([name, { schema }]) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(patterns).length === 0 ? {} : { patternProperties: patterns }),
    additionalProperties: false,
  };
};

/** Returns one schema for all successful answers of an operation; all of them are objects. */
const outputSchemaOf = ({ answers }: OperationShape): Schema => {
  const good = [
    ...new Set(
      Object.entries(answers).flatMap(([status, schema]) =>
        status < '300' ? [schema as Schema] : [],
      ),
    ),
  ];
  const [only] = good;
  return good.length === 1 && only?.type === 'object' ? only : { type: 'object', anyOf: good };
};

const hintsOf = ({ access, method }: OperationShape): object =>
  isReadAccess(access)
    ? { readOnlyHint: true }
    : {
        readOnlyHint: false,
        destructiveHint: method === 'DELETE',
        ...(method === 'PUT' || method === 'DELETE' ? { idempotentHint: true } : {}),
      };

/** Returns a value of path or query as the text that appears in the address. */
const addressText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const queryText = (value: unknown): string | string[] =>
  Array.isArray(value) ? value.map(addressText) : addressText(value);

const bodyOf = (
  { body }: OperationShape,
  { call }: ToolShape,
  texts: Record<string, string>,
): Uint8Array | undefined => {
  if (body === undefined) return undefined;
  const isAbsent = call === undefined && Object.keys(texts).length === 0 && '~optional' in body;
  if (isAbsent) return undefined;
  const kind = call === undefined ? {} : { kind: JSON.stringify(call.kind) };
  const own = call?.input === undefined ? texts : { input: objectText(texts) };
  return Buffer.from(objectText({ ...kind, ...own }));
};

const requestOf = (
  operation: OperationShape,
  tool: ToolShape,
  args: Map<string, Argument>,
  given: Readonly<Record<string, string>>,
): ToolRequest => {
  const { wait } = tool;
  const request: Omit<ToolRequest, 'bytes'> = {
    params: {},
    query: wait === undefined ? {} : { wait: String(wait) },
    headers: {},
  };
  const ofBody: Record<string, string> = {};
  const patterns = Object.keys(patternsOf(operation)).map((pattern) => new RegExp(pattern));
  for (const [name, text] of Object.entries(given)) {
    const argument = args.get(name);
    if (argument === undefined && !patterns.some((pattern) => pattern.test(name))) {
      const hint = suggestName(name, args.keys());
      throw invalidParameter(
        name,
        `is no argument of the tool ${tool.name}; ${hint ?? 'it has none'}`,
      );
    }
    const { part, member } = argument ?? { part: 'query', member: name };
    if (part === 'body' || part === 'input') ofBody[member] = text;
    else if (text.length > mostAddressChars) throw invalidParameter(name, 'is too long');
    else if (part === 'query') request.query[member] = queryText(JSON.parse(text));
    else request[part === 'path' ? 'params' : 'headers'][member] = addressText(JSON.parse(text));
  }
  for (const [name, { part, isRequired }] of args)
    if (part === 'path' && isRequired && !Object.hasOwn(given, name))
      throw invalidParameter(name, 'is required');
  return { ...request, bytes: bodyOf(operation, tool, ofBody) };
};

const toolOf = (operation: OperationShape, tool: ToolShape): ServiceTool => {
  const args = argumentsOf(operation, tool);
  const { name, description = operation.summary } = tool;
  return {
    name,
    operation,
    failed: tool.failed,
    json: JSON.stringify({
      name,
      description,
      annotations: hintsOf(operation),
      inputSchema: inputSchemaOf(operation, args),
      outputSchema: outputSchemaOf(operation),
    }),
    request: (given) => requestOf(operation, tool, args, given),
  };
};

/** Returns the tools that operations declare, by name. */
export const serviceToolsOf = (
  operations: readonly OperationShape[],
): ReadonlyMap<string, ServiceTool> => {
  const tools = operations.flatMap((operation) =>
    (operation.tools ?? []).map((tool) => toolOf(operation, tool)),
  );
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (byName.size < tools.length) throw new Error('two tools have the same name');
  return byName;
};

/**
 * Request body of a route. A route that maps fields accepts the mapped fields, each at its path, so that nested paths
 * become nested objects. A route that maps no fields accepts all fields of its entity. A handler accepts anything.
 */
import type { EntityContract, FieldPath, JsonSchema, RouteContract } from '../contract.ts';
import { pathArguments } from '../path-segments.ts';
import { isTable } from '../read/values.ts';
import { componentReference, toComponentSchema } from './component-names.ts';
import { fieldSchema } from './field-schemas.ts';
import { followReference, isRequiredField, type SchemaSource } from './source.ts';

/** A value that the body may have. */
type BodyField = {
  from: FieldPath;
  schema: unknown;
  isRequired: boolean;
  /** Value that the row's field gets if the body lacks it. */
  default?: unknown;
};

/** Returns true if a field of a new row gets its value from elsewhere than the body. */
const isGiven = (route: RouteContract, field: FieldPath): boolean => {
  const [name = ''] = field;
  if (Object.hasOwn(route.defaults, name)) return true;
  if (route.generate.some((generated) => generated.field === name)) return true;
  const key = JSON.stringify(field);
  return route.filter.some(
    ({ argument, path, match }) =>
      match === 'equals' &&
      JSON.stringify(path) === key &&
      pathArguments(route.segments).includes(argument),
  );
};

/** Returns true if an action writes values of the body into a row. */
const isWriting = ({ action }: RouteContract): boolean =>
  action === 'create' || action === 'update';

const toBodyField = (
  { field, from }: RouteContract['body'][number],
  route: RouteContract,
  entity: EntityContract,
  source: SchemaSource,
): BodyField => {
  const [name = '', ...inner] = field;
  const isCreate = route.action === 'create';
  const hasDefault = isCreate && inner.length === 0 && Object.hasOwn(route.defaults, name);
  return {
    from,
    schema: fieldSchema(source, entity, field),
    isRequired: isCreate && !isGiven(route, field) && isRequiredField(source, entity, field),
    ...(hasDefault ? { default: route.defaults[name] } : {}),
  };
};

/**
 * Returns the part of the body that a route writes. With a mapping, this is the mapped fields; without a mapping, it is
 * the whole entity, with the names of the fields that the body must have. Returns undefined if the route writes
 * nothing, or is a handler.
 */
export const bodyOf = (
  route: RouteContract,
  source: SchemaSource,
):
  | { kind: 'mapped'; fields: BodyField[] }
  | { kind: 'whole'; entity: EntityContract; required: string[] }
  | undefined => {
  const entity = source.entity(route.entity);
  if (entity === undefined || !isWriting(route)) return undefined;
  if (route.body.length > 0) {
    const fields = route.body.map((mapping) => toBodyField(mapping, route, entity, source));
    return { kind: 'mapped', fields };
  }
  const needed: unknown[] = Array.isArray(entity.schema.required) ? entity.schema.required : [];
  const required = needed.filter(
    (name): name is string => typeof name === 'string' && !isGiven(route, [name]),
  );
  return { kind: 'whole', entity, required: route.action === 'create' ? required : [] };
};

type Node = { schemas: unknown[]; parts: Map<string, Node>; isRequired: boolean };

const newNode = (): Node => ({ schemas: [], parts: new Map(), isRequired: false });

/** Maximum nesting depth at which the body is described; deeper values are not constrained. */
const deepestPlace = 16;

const insert = (root: Node, { from, ...field }: BodyField): void => {
  let node = root;
  for (const segment of from.slice(0, deepestPlace)) {
    const next = node.parts.get(segment) ?? newNode();
    node.parts.set(segment, next);
    node.isRequired ||= field.isRequired;
    node = next;
  }
  node.isRequired ||= field.isRequired;
  if (from.length > deepestPlace) return;
  const { schema } = field;
  node.schemas.push(
    'default' in field && isTable(schema) ? { ...schema, default: field.default } : schema,
  );
};

/** Maximum length of a list whose items are described by index. */
const longestTuple = 16;

const listSchema = (parts: Node['parts']): JsonSchema => {
  const last = Math.max(...[...parts.keys()].map(Number));
  if (last >= longestTuple) return { type: 'array' };
  const items = Array.from({ length: last + 1 }, (_, index) => {
    const part = parts.get(String(index));
    return part === undefined ? {} : nodeSchema(part);
  });
  return { type: 'array', prefixItems: items };
};

const objectSchema = (parts: Node['parts']): JsonSchema => {
  const required = [...parts].filter(([, part]) => part.isRequired).map(([name]) => name);
  const properties = [...parts].map(([name, part]) => [name, nodeSchema(part)]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
  };
};

const nodeSchema = ({ schemas, parts }: Node): unknown => {
  const isList = parts.size > 0 && [...parts.keys()].every((name) => /^\d+$/.test(name));
  const inner = parts.size === 0 ? [] : [isList ? listSchema(parts) : objectSchema(parts)];
  const all = [...schemas, ...inner];
  return all.length === 1 ? all[0] : all.length === 0 ? {} : { allOf: all };
};

/** Returns true if the members of a body with this media type can be described. */
const hasMembers = (type: string): boolean =>
  /[/+]json$/.test(type) || type === 'application/x-www-form-urlencoded';

/** Schema of a file's bytes, in the form of OpenAPI 3.0, which readers understand. */
const bytesSchema = { type: 'string', format: 'binary' };

/**
 * Builds the body of a handler: its schema for JSON and forms; text for other types that the handler names; or bytes.
 */
const handlerBodyOf = (route: RouteContract, source: SchemaSource): JsonSchema | undefined => {
  if (route.method === 'GET') return undefined;
  const { request, bodyEncoding } = route;
  if (bodyEncoding !== undefined) {
    const { bodyTypes = ['*/*'] } = route;
    const contents = bodyTypes.map((type) => [type, { schema: bytesSchema }]);
    return { required: false, content: Object.fromEntries(contents) };
  }
  const { bodyTypes = ['application/json'] } = route;
  const needed = followReference(request, source.contract.definitions).required;
  const members = request === undefined ? {} : toComponentSchema(request, source.names);
  const contents = bodyTypes.map((type) => [
    type,
    { schema: hasMembers(type) ? members : { type: 'string' } },
  ]);
  return {
    required: Array.isArray(needed) && needed.length > 0,
    content: Object.fromEntries(contents),
  };
};

/** Builds the Request Body Object of a route; undefined if it takes no body. */
export const requestBodyOf = (
  route: RouteContract,
  source: SchemaSource,
): JsonSchema | undefined => {
  const content = (schema: unknown): JsonSchema => ({ 'application/json': { schema } });
  if (route.action === 'handler') return handlerBodyOf(route, source);
  const body = bodyOf(route, source);
  if (body === undefined) return undefined;
  if (body.kind === 'whole') {
    const fields = componentReference(source.names.fields.get(body.entity.name));
    const { required } = body;
    if (required.length === 0) return { required: false, content: content(fields) };
    return { required: true, content: content({ allOf: [fields, { required }] }) };
  }
  const root = newNode();
  for (const field of body.fields) insert(root, field);
  return { required: root.isRequired, content: content(objectSchema(root.parts)) };
};

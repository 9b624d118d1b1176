/**
 * The OpenAPI 3.1 document of the HTTP API that a world serves, made from its contract alone. Schemas
 * are written as they are, for OpenAPI 3.1 speaks the same dialect; only references are led to
 * `components`.
 *
 * Routes of one path are one path item. Paths that differ by nothing but the names of their arguments
 * are the same path to OpenAPI, so the first one's names hold for all of them.
 */
import type { EntityContract, JsonSchema, RouteContract } from '../contract.ts';
import { pathArguments, writePath } from '../path-segments.ts';
import { isTable } from '../read/values.ts';
import { propertyReference, toComponentSchema } from './component-names.ts';
import { type Parameter, parametersOf } from './parameters.ts';
import { requestBodyOf } from './request-body.ts';
import { responsesOf, sharedExamples, sharedResponses } from './responses.ts';
import { securityOf } from './security.ts';
import { type DescribedContract, openSource, type Source, summaryOf } from './source.ts';

export type OpenApiOptions = {
  /** Where the API answers, for example a session's; absent: the place the document came from. */
  serverUrl?: string;
  /** Absent: the world's name. */
  title?: string;
};

const renameArguments = (
  parameters: readonly Parameter[],
  from: readonly string[],
  to: readonly string[],
): Parameter[] =>
  parameters.map((parameter) => {
    const position = parameter.in === 'path' ? from.indexOf(parameter.name) : -1;
    return { ...parameter, name: to[position] ?? parameter.name };
  });

/** An Operation Object; `names` are the arguments of the path that it is listed under. */
const operationOf = (
  route: RouteContract,
  names: readonly string[],
  source: Source,
): JsonSchema => {
  const parameters = renameArguments(
    parametersOf(route, source),
    pathArguments(route.segments),
    names,
  );
  const requestBody = requestBodyOf(route, source);
  return {
    operationId: route.operation,
    summary: summaryOf(route),
    ...(route.entity === null ? {} : { tags: [route.entity] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responsesOf(route, source),
  };
};

/** Equal for paths that OpenAPI takes for one. */
const pathShape = ({ segments }: RouteContract): string => writePath(segments, () => '{}');

/** The path as OpenAPI writes one, which has no notation for arguments that hold slashes. */
const pathTemplate = ({ segments }: RouteContract): string =>
  writePath(segments, (name) => `{${name}}`);

const pathsOf = (routes: readonly RouteContract[], source: Source): JsonSchema => {
  const items = [...Map.groupBy(routes, pathShape).values()].map((group) => {
    const [first] = group;
    const names = first === undefined ? [] : pathArguments(first.segments);
    const operations = group.map((route) => [
      route.method.toLowerCase(),
      operationOf(route, names, source),
    ]);
    return [first === undefined ? '/' : pathTemplate(first), Object.fromEntries(operations)];
  });
  return Object.fromEntries(items);
};

/** An entity's fields alone, referring to the entity for what each is. */
const fieldsOf = ({ name, schema }: EntityContract, { names }: Source): JsonSchema => {
  const fields = isTable(schema.properties) ? Object.keys(schema.properties) : [];
  const component = names.entity.get(name);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      fields.map((field) => [field, propertyReference(component, field)]),
    ),
  };
};

/** Entities whose fields some route takes from its body as they are. */
const takenWhole = ({ api, contract }: Source): EntityContract[] => {
  const names = new Set(
    api.routes
      .filter(({ action, body }) => ['create', 'update'].includes(action) && body.length === 0)
      .map(({ entity }) => entity),
  );
  return contract.entities.filter(({ name }) => names.has(name));
};

const schemasOf = (source: Source): JsonSchema => {
  const { contract, names } = source;
  const entities = contract.entities.map(({ name, schema }) => [
    names.entity.get(name),
    toComponentSchema(schema, names),
  ]);
  const definitions = Object.entries(contract.definitions).map(([name, schema]) => [
    names.definition.get(name),
    toComponentSchema(schema, names),
  ]);
  const fields = takenWhole(source).map((entity) => [
    names.fields.get(entity.name),
    fieldsOf(entity, source),
  ]);
  return Object.fromEntries([...entities, ...definitions, ...fields]);
};

const emptyDocument = (info: JsonSchema): JsonSchema => ({ openapi: '3.1.0', info, paths: {} });

/**
 * The document of a world's routes. A world without an API has a document without paths. Equal
 * contracts and options give equal documents, key by key.
 */
export const openApiOf = (
  contract: DescribedContract,
  { serverUrl, title }: OpenApiOptions = {},
): JsonSchema => {
  const info = {
    title: title ?? (contract.name === '' ? contract.package.id : contract.name),
    version: contract.package.version,
  };
  const { api } = contract;
  if (api === null) return emptyDocument(info);
  const source = openSource(contract, api);
  const { schemes, requirements } = securityOf(api, serverUrl ?? '');
  const served = new Set(api.routes.map(({ entity }) => entity));
  const tags = contract.entities.filter(({ name }) => served.has(name));
  return {
    openapi: '3.1.0',
    info,
    ...(serverUrl === undefined ? {} : { servers: [{ url: serverUrl }] }),
    security: requirements,
    tags: tags.map(({ name }) => ({ name })),
    paths: pathsOf(api.routes, source),
    components: {
      securitySchemes: schemes,
      responses: sharedResponses(source),
      examples: sharedExamples(source),
      schemas: schemasOf(source),
    },
  };
};

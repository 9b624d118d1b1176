/**
 * Builds the OpenAPI 3.1 document of the HTTP API that a world serves, only from the world's contract. Schemas are
 * copied unchanged, because OpenAPI 3.1 uses the same dialect; only references are changed to point to `components`.
 *
 * All routes with the same path form one path item. OpenAPI treats paths that differ only in names of arguments as the
 * same path, so all of them get the argument names of the first.
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
  /** URL of the API, for example that of a session; absent to use the origin of the document. */
  serverUrl?: string;
  /** Title of the document; absent to use the world's name. */
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

/** Builds an Operation Object; `names` are the argument names of the path item that lists the operation. */
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

/** Returns a key that is equal for paths that OpenAPI treats as the same. */
const pathShape = ({ segments }: RouteContract): string => writePath(segments, () => '{}');

/** Returns the path in OpenAPI's notation, which cannot express arguments that span slashes. */
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

/** Builds the schema of an entity's fields, each a reference to the entity's property. */
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

/** Returns the entities whose whole rows some route takes from its body, without a mapping of fields. */
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
 * Builds the document of a world's routes. If the world has no API, the document has no paths. Equal contracts and
 * options give equal documents, with the same order of keys.
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

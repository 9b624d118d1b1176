/**
 * Parameters of a route: arguments of its path, its query parameters, and the parameters of its pagination. An argument
 * of a filter has the type of the field with which it is compared.
 */
import type { JsonSchema, RouteContract } from '../contract.ts';
import { pathArguments, restArguments } from '../path-segments.ts';
import { scalarSchema } from './field-schemas.ts';
import type { Source } from './source.ts';

/** A Parameter Object of OpenAPI. */
export type Parameter = {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description?: string;
  style?: 'form';
  explode?: boolean;
  schema: JsonSchema;
  example?: unknown;
};

const matchWords = { equals: 'The', contains: 'Part of the', prefix: 'Beginning of the' } as const;

/** Returns the schema of an argument's single value, and a description of the rows that it selects. */
const describeArgument = (
  route: RouteContract,
  argument: string,
  source: Source,
): { schema: JsonSchema; description?: string } => {
  const filter = route.filter.find((candidate) => candidate.argument === argument);
  const entity = source.entity(route.entity);
  if (filter === undefined || entity === undefined) return { schema: { type: 'string' } };
  const schemas = source.analysis.at(entity.schema, filter.path);
  const isList = source.analysis.types(schemas).has('array');
  const items = isList ? source.analysis.at(entity.schema, [...filter.path, '0']) : schemas;
  const isWhole = filter.match === 'equals' || isList;
  return {
    schema: isWhole ? scalarSchema(source, items) : { type: 'string' },
    description: `${isList ? 'One of the' : matchWords[filter.match]} row's ${filter.path.join('.')}.`,
  };
};

const sampleOf = (route: RouteContract, name: string): { example?: unknown } =>
  Object.hasOwn(route.sample, name) ? { example: route.sample[name] } : {};

/**
 * Returns true if a write requires the argument. If an argument of its filter were missing, the write would affect too
 * many rows.
 */
const isNeeded = (route: RouteContract, name: string): boolean =>
  (route.action === 'update' || route.action === 'delete') &&
  route.filter.some(({ argument }) => argument === name);

const pagingParameters = ({ page }: RouteContract, { api: { paging } }: Source): Parameter[] => {
  if (page === 'none') return [];
  const limit: Parameter = {
    name: paging.limitParam,
    in: 'query',
    required: false,
    description: 'How many rows a page has at most.',
    schema: { type: 'integer', minimum: 1, default: paging.pageSize },
  };
  const start: Parameter =
    page === 'offset'
      ? {
          name: paging.offsetParam,
          in: 'query',
          required: false,
          description: 'How many rows to leave out from the beginning.',
          schema: { type: 'integer', minimum: 0, default: 0 },
        }
      : {
          name: paging.cursorParam,
          in: 'query',
          required: false,
          description: 'Where the page begins, as the page before it said.',
          schema: { type: 'string' },
        };
  return [limit, start];
};

const queryParameter = (
  route: RouteContract,
  { name, repeated }: RouteContract['params'][number],
  source: Source,
): Parameter => {
  const { schema, ...words } = describeArgument(route, name, source);
  return {
    name,
    in: 'query',
    required: isNeeded(route, name),
    ...words,
    ...(repeated ? { style: 'form', explode: true } : {}),
    schema: repeated ? { type: 'array', items: schema } : schema,
    ...sampleOf(route, name),
  };
};

/**
 * Builds a path parameter. OpenAPI cannot express that an argument spans segments, so the description of the parameter
 * says so.
 */
const pathParameter = (route: RouteContract, name: string, source: Source): Parameter => {
  const { schema, description } = describeArgument(route, name, source);
  const words = restArguments(route.segments).includes(name) ? ['It may hold slashes.'] : [];
  const sentences = [...(description === undefined ? [] : [description]), ...words];
  return {
    name,
    in: 'path',
    required: true,
    ...(sentences.length === 0 ? {} : { description: sentences.join(' ') }),
    schema,
    ...sampleOf(route, name),
  };
};

/** Returns the parameters: first those of the path, in its order, then those of the query. */
export const parametersOf = (route: RouteContract, source: Source): Parameter[] => {
  const inPath = pathArguments(route.segments).map((name) => pathParameter(route, name, source));
  const paging = pagingParameters(route, source);
  const named = new Map(paging.map((parameter) => [parameter.name, parameter]));
  const declared = route.params.filter(({ name }) => !named.has(name));
  const inQuery = new Map(
    declared.map((param) => [param.name, queryParameter(route, param, source)]),
  );
  return [...inPath, ...inQuery.values(), ...named.values()];
};

/**
 * Responses of a route: rows with the route's envelope and pagination, and the vendor's errors with their bodies as
 * examples. Errors with the same status are examples of the same response.
 */
import {
  type ApiContract,
  type InvalidCause,
  invalidCauses,
  type JsonSchema,
  type RouteContract,
  type VendorError,
} from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { isDeeperThan } from '../read/values.ts';
import { componentReference, toComponentSchema } from './component-names.ts';
import type { Source } from './source.ts';

/** Statuses whose responses must not have a body in HTTP. */
const bodiless: readonly number[] = [204, 205];

const errorWords = {
  unauthorized: 'No valid credential.',
  notFound: 'There is no such row or route.',
  invalid: 'The request, or the row it would write, is not valid.',
  duplicate: 'Another row has the key.',
  reference: 'A row that is referred to is not there, or a row is still referred to.',
  shape: 'The body, or the row it would write, does not fit its schema.',
} as const;

const errorNames = ['unauthorized', 'notFound', 'invalid'] as const;

/** Names of the errors that all routes share. Errors by cause have no component of their own. */
type SharedName = (typeof errorNames)[number];
type ErrorName = SharedName | InvalidCause;
type NamedError = { name: ErrorName; error: VendorError };

/** Returns the example of an error's body: JSON as a value, anything else as text. */
const bodyValue = (body: string, contentType: string): unknown => {
  if (!/\bjson\b/i.test(contentType)) return body;
  try {
    const value: unknown = JSON.parse(body);
    return isDeeperThan(value, languageLimits.depth) ? body : value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return body;
  }
};

const componentNames: Record<SharedName, string> = {
  unauthorized: 'Unauthorized',
  notFound: 'NotFound',
  invalid: 'Invalid',
};

type SharedError = { name: SharedName; error: VendorError };

const hasSharedBody = (named: NamedError, { api }: Source): named is SharedError =>
  named.name in componentNames && named.error.body === api[named.name as SharedName].body;

/**
 * Returns an example. If routes share the body, the example is a reference, because there may be many routes and long
 * bodies.
 */
const exampleOf = (named: NamedError, source: Source): JsonSchema =>
  hasSharedBody(named, source)
    ? { $ref: `#/components/examples/${componentNames[named.name]}` }
    : { value: bodyValue(named.error.body, source.api.errorContentType) };

const errorResponse = (errors: readonly NamedError[], source: Source): JsonSchema => {
  const examples = errors
    .filter(({ error }) => error.body !== '')
    .map((named) => [named.name, exampleOf(named, source)]);
  return {
    description: errors.map(({ name }) => errorWords[name]).join(' '),
    ...(examples.length === 0
      ? {}
      : { content: { [source.api.errorContentType]: { examples: Object.fromEntries(examples) } } }),
  };
};

/** Returns the responses that routes share, for `components.responses`. */
export const sharedResponses = (source: Source): JsonSchema =>
  Object.fromEntries(
    errorNames.map((name) => [
      componentNames[name],
      errorResponse([{ name, error: source.api[name] }], source),
    ]),
  );

/** Returns the bodies of the responses that routes share, for `components.examples`. */
export const sharedExamples = ({ api }: Source): JsonSchema =>
  Object.fromEntries(
    errorNames
      .filter((name) => api[name].body !== '')
      .map((name) => [
        componentNames[name],
        { value: bodyValue(api[name].body, api.errorContentType) },
      ]),
  );

const causesOf = (invalidBy: ApiContract['invalidBy'] = {}): NamedError[] =>
  invalidCauses.flatMap((name) => {
    const error = invalidBy[name];
    return error === undefined ? [] : [{ name, error }];
  });

const errorsOf = (route: RouteContract, { api }: Source): NamedError[] => [
  { name: 'unauthorized', error: api.unauthorized },
  ...(route.action === 'read' && !route.single
    ? []
    : [{ name: 'notFound' as const, error: route.notFound }]),
  ...(route.action === 'read' && route.page === 'none'
    ? []
    : [{ name: 'invalid' as const, error: api.invalid }]),
  ...(route.action === 'read' ? [] : causesOf(api.invalidBy)),
];

const isShared = (named: NamedError, source: Source): named is SharedError =>
  hasSharedBody(named, source) && named.error.status === source.api[named.name].status;

const errorResponses = (route: RouteContract, source: Source): [string, JsonSchema][] => {
  const byStatus = Map.groupBy(errorsOf(route, source), ({ error }) => error.status);
  return [...byStatus].map(([status, errors]) => {
    const [only, ...others] = errors;
    const response =
      only !== undefined && others.length === 0 && isShared(only, source)
        ? { $ref: `#/components/responses/${componentNames[only.name]}` }
        : errorResponse(errors, source);
    return [String(status), response];
  });
};

/**
 * Returns true if responses have cursors or links of adjacent pages. Pagination by offset has no cursors, only links.
 */
const hasMarks = ({ page }: RouteContract, { api: { paging } }: Source): boolean =>
  page === 'cursor' || (page === 'offset' && paging.links);

/** Returns the keys of a list's answer besides the rows: their count, and the next and previous page. */
const listProperties = (route: RouteContract, source: Source): JsonSchema => {
  const { paging } = source.api;
  const count = paging.hitsKey === '' ? {} : { [paging.hitsKey]: { type: 'integer', minimum: 0 } };
  if (!hasMarks(route, source)) return count;
  const mark = { type: ['string', 'null'], ...(paging.links ? { format: 'uri' } : {}) };
  return {
    ...count,
    [paging.cursorKey]: mark,
    ...(paging.previousKey === null ? {} : { [paging.previousKey]: mark }),
  };
};

/** Returns the schema of a successful response: the rows alone, or in the route's envelope. */
const answerSchema = (route: RouteContract, source: Source): unknown => {
  const entity = source.entity(route.entity);
  if (route.response !== undefined) return toComponentSchema(route.response, source.names);
  if (route.action === 'handler' || entity === undefined) return {};
  const row = componentReference(source.names.entity.get(entity.name));
  const rows = route.single ? row : { type: 'array', items: row };
  if (route.envelope === '') return rows;
  const beside = route.single ? {} : listProperties(route, source);
  return {
    type: 'object',
    required: [route.envelope],
    properties: { ...beside, [route.envelope]: rows },
  };
};

const headersOf = (route: RouteContract, source: Source): JsonSchema => {
  if (route.page === 'none') return {};
  const { headers, links } = source.api.paging;
  const { cursor, previous, total } = headers;
  const header = (name: string | undefined, description: string, type: string): JsonSchema =>
    name === undefined ? {} : { [name]: { description, schema: { type } } };
  const marks = {
    ...header(cursor, 'Where the next page begins.', 'string'),
    ...header(previous, 'Where the page before begins.', 'string'),
    ...header(links ? 'Link' : undefined, 'URLs of first, prev, next and last.', 'string'),
  };
  return {
    ...(hasMarks(route, source) ? marks : {}),
    ...header(total, 'How many rows there are on all pages.', 'integer'),
  };
};

const changeHeader = ({ lastModified }: RouteContract): JsonSchema =>
  lastModified === undefined
    ? {}
    : {
        'Last-Modified': {
          description: 'When the object was last changed, where it says so.',
          schema: { type: 'string' },
        },
      };

/**
 * Returns the contents for the further media types of a route, without patterns that have `*` and without JSON types.
 * The bodies are not constrained.
 */
const otherContents = ({ mediaTypes = [] }: RouteContract): [string, JsonSchema][] =>
  mediaTypes.filter((type) => !/\*|[/+]json$/.test(type)).map((type) => [type, { schema: {} }]);

const goodResponse = (route: RouteContract, source: Source): JsonSchema => {
  const headers = { ...headersOf(route, source), ...changeHeader(route) };
  return {
    description: route.action === 'handler' ? 'What the handler answers.' : 'It is done.',
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(bodiless.includes(route.status)
      ? {}
      : {
          content: {
            'application/json': { schema: answerSchema(route, source) },
            ...Object.fromEntries(otherContents(route)),
          },
        }),
  };
};

/** Builds the Responses Object of a route. */
export const responsesOf = (route: RouteContract, source: Source): JsonSchema => ({
  [String(route.status)]: goodResponse(route, source),
  ...Object.fromEntries(errorResponses(route, source)),
  ...(route.action === 'handler' ? { default: { description: 'What the handler refuses.' } } : {}),
});

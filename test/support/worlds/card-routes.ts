/** Contracts of cards with the routes of a test, and their OpenAPI descriptions. */
import type { ApiContract, Contract, EntityContract, RouteContract } from '#language/contract.ts';
import { type OpenApiOptions, openApiOf } from '#language/openapi/openapi.ts';
import { sampleContract, sampleEntity } from './sample-contract.ts';
import { sampleApi, sampleRoute } from './sample-world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests reach into the document
export type Loose = any;

export const definitions = {
  Id: { type: 'integer', minimum: 1 },
  'people.json:Login': { type: 'string', maxLength: 40 },
  'people.Login': { type: 'string' },
  cards: { enum: [{ $ref: '#/$defs/Id' }] },
  Person: {
    type: 'object',
    required: ['login'],
    properties: {
      login: { $ref: '#/$defs/people.json:Login' },
      boss: { anyOf: [{ $ref: '#/$defs/Person' }, { type: 'null' }] },
    },
  },
};

export const cards: EntityContract = sampleEntity('cards', {
  properties: {
    id: { $ref: '#/$defs/Id' },
    list: { type: 'integer' },
    title: { type: 'string', minLength: 1 },
    state: { enum: ['open', 'done', null] },
    author: { $ref: '#/$defs/Person' },
    labels: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } },
    size: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] },
  },
  optional: ['size', 'labels'],
});

/** Returns a contract of cards with these routes. */
export const contractWith = (routes: RouteContract[], parts: Partial<ApiContract> = {}): Contract =>
  sampleContract({
    definitions,
    entities: [cards],
    api: { ...sampleApi, ...parts, routes },
  });

/** Returns the OpenAPI document of a contract of cards. */
export const documentOf = (
  routes: RouteContract[],
  parts: Partial<ApiContract> = {},
  options?: OpenApiOptions,
): Loose => openApiOf(contractWith(routes, parts), options);

/** Builds a route of cards. */
export const card = (
  method: RouteContract['method'],
  path: string,
  parts: Partial<RouteContract> = {},
): RouteContract => sampleRoute(method, path, { entity: 'cards', ...parts });

/** Builds a filter by an argument. */
export const equals = (argument: string, ...path: string[]): RouteContract['filter'][number] => ({
  argument,
  path,
  match: 'equals',
});

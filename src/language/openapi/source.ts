/** Inputs that the parts of an OpenAPI document share, prepared once for all routes. */
import { own } from '#domain/json.ts';
import type {
  ApiContract,
  Contract,
  EntityContract,
  FieldPath,
  JsonSchema,
  RouteContract,
} from '../contract.ts';
import { isTable } from '../read/values.ts';
import { type Analysis, analysisOf } from '../schema/analysis.ts';
import { definitionName } from '../schema/keywords.ts';
import { type ComponentNames, nameComponents } from './component-names.ts';

/** Parts of a contract that describe its HTTP API. */
export type DescribedContract = Pick<
  Contract,
  'name' | 'package' | 'definitions' | 'entities' | 'api' | 'vendor'
>;

/** Entities and their schemas, with functions to look them up. */
export type SchemaSource = {
  contract: DescribedContract;
  analysis: Analysis;
  names: ComponentNames;
  /** Returns the entity with a name; undefined if the name is null, as for a route without an entity. */
  entity(name: string | null): EntityContract | undefined;
  /** Returns the length of a schema, in characters of JSON. */
  lengthOf(schema: unknown): number;
};

/** Entities and their schemas, and the API of the routes. */
export type Source = SchemaSource & { api: ApiContract };

/** Creates a cache of lengths, because routes need the lengths of the same fields repeatedly. */
const createLengths = (): SchemaSource['lengthOf'] => {
  const known = new WeakMap<object, number>();
  return (schema) => {
    if (!isTable(schema)) return 0;
    const length = known.get(schema) ?? JSON.stringify(schema).length;
    known.set(schema, length);
    return length;
  };
};

export const openSchemas = (contract: DescribedContract): SchemaSource => {
  const byName = new Map(contract.entities.map((entity) => [entity.name, entity]));
  return {
    contract,
    analysis: analysisOf(contract.definitions),
    names: nameComponents(contract),
    entity: (name) => (name === null ? undefined : byName.get(name)),
    lengthOf: createLengths(),
  };
};

export const openSource = (contract: DescribedContract, api: ApiContract): Source => ({
  ...openSchemas(contract),
  api,
});

/** Maximum length of a chain of references, because definitions may refer to one another in cycles. */
const longestChain = 32;

/** Returns the schema at the end of a chain of references; returns the schema itself if it is no reference. */
export const followReference = (
  schema: unknown,
  definitions: Contract['definitions'],
): JsonSchema => {
  let current = schema;
  for (let step = 0; step < longestChain && isTable(current); step += 1) {
    const name = definitionName(current.$ref);
    const target = name === undefined ? undefined : own(definitions, name);
    if (target === undefined) break;
    current = target;
  }
  return isTable(current) ? current : {};
};

/** Returns true if every row has the field at a path; false if the schemas do not guarantee that. */
export const isRequiredField = (
  { analysis, contract }: SchemaSource,
  entity: EntityContract,
  path: FieldPath,
): boolean =>
  path.every((segment, index) => {
    const around = analysis.at(entity.schema, path.slice(0, index));
    return (
      around.length > 0 &&
      around.every((schema) => {
        const { required } = followReference(schema, contract.definitions);
        return Array.isArray(required) && required.includes(segment);
      })
    );
  });

/** Returns a short summary of a route. */
export const summaryOf = (route: RouteContract): string => {
  const rows = route.entity ?? 'rows';
  switch (route.action) {
    case 'read':
      return route.single ? `Get one of ${rows}` : `List ${rows}`;
    case 'create':
      return `Add to ${rows}`;
    case 'update':
      return `Change ${rows}`;
    case 'delete':
      return `Remove from ${rows}`;
    case 'handler':
      return `Answered by ${route.handler ?? 'a handler'}`;
  }
};

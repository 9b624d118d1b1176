/**
 * Describes a contract as plain data for readers: every field of every entity with its types and redaction, tools,
 * routes and tasks.
 */
import { own } from '#domain/json.ts';
import { fieldPolicy } from '../capture/redact.ts';
import { policyText } from '../capture/redaction.ts';
import type {
  Contract,
  EntityContract,
  FieldPath,
  JsonSchema,
  RouteContract,
} from '../contract.ts';
import { isTable } from '../read/values.ts';
import { type Analysis, createAnalysis, type JsonType } from '../schema/analysis.ts';
import { definitionName } from '../schema/keywords.ts';
import { type ToolSchema, toolSchemasOf } from './tool-schemas.ts';

type FieldDescription = {
  /** Dotted path of the field, from the row on; `*` means any item of a list. */
  path: string;
  /** Possible types of the field's values; `number` includes `integer`. */
  types: JsonType[];
  /** True if the enclosing object always has the field. */
  required: boolean;
  /** Redaction policy: `hash`, `drop`, `preserve` or `round:<decimals>`; null if the field is not redacted. */
  policy: string | null;
};

type EntityDescription = {
  name: string;
  primaryKey: string[];
  /** Unique constraints besides the primary key, with their fields as dotted paths. */
  unique: string[][];
  relationships: { fields: string[]; target: string }[];
  fields: FieldDescription[];
};

type RouteDescription = {
  operation: string;
  method: RouteContract['method'];
  path: string;
  action: RouteContract['action'];
  entity: string | null;
  params: RouteContract['params'];
};

type WorldDescription = {
  name: string;
  package: Contract['package'];
  domainVersion: string;
  /** Salt of the redaction policy; null without one. */
  redactSalt: string | null;
  entities: EntityDescription[];
  tools: ToolSchema[];
  routes: RouteDescription[];
  /** Bundled tasks. `tools` lists the tools that the agent is offered; null if it is offered all. */
  tasks: { name: string; description: string | null; tools: string[] | null }[];
};

/** Limits on the description of one entity, because its schemas may be recursive. */
const deepest = 6;
const mostFields = 1_000;

const resolve = (schema: unknown, definitions: Contract['definitions']): unknown => {
  let found = schema;
  for (let hops = 0; isTable(found) && hops < 100; hops += 1) {
    const name = definitionName(found.$ref);
    if (name === undefined) return found;
    found = own(definitions, name);
  }
  return found;
};

const requiredIn = (schema: unknown, definitions: Contract['definitions']): Set<unknown> => {
  const shape = resolve(schema, definitions);
  return new Set(isTable(shape) && Array.isArray(shape.required) ? shape.required : []);
};

const markOf = (redact: Contract['redact'], path: FieldPath): string | null => {
  const policy = redact === null ? undefined : fieldPolicy(redact, path);
  return policy === undefined ? null : policyText(policy);
};

const typesOf = (analysis: Analysis, schemas: readonly unknown[]): JsonType[] => {
  const types = analysis.types(schemas);
  return [...types].filter((type) => type !== 'integer' || !types.has('number'));
};

/** Returns the values inside a value, as schemas describe them: fields by name, and the items of a list as `*`. */
const partsOf = (
  analysis: Analysis,
  schemas: readonly unknown[],
): Map<string, { schemas: unknown[] }> => {
  const parts = new Map<string, { schemas: unknown[] }>();
  const add = (name: string, found: readonly unknown[]): void => {
    const known = parts.get(name) ?? { schemas: [] };
    known.schemas.push(...found);
    parts.set(name, known);
  };
  for (const schema of schemas) {
    for (const [name, found] of analysis.properties(schema)) add(name, found);
    const items = analysis.at(schema, ['0']).filter(isTable);
    if (items.length > 0) add('*', items);
  }
  return parts;
};

const describeFields = (
  { definitions, redact }: Pick<Contract, 'definitions' | 'redact'>,
  root: JsonSchema,
): FieldDescription[] => {
  const analysis = createAnalysis(definitions);
  const fields: FieldDescription[] = [];
  const walk = (
    schemas: readonly unknown[],
    path: FieldPath,
    above: ReadonlySet<unknown>,
  ): void => {
    const required = schemas.map((schema) => requiredIn(schema, definitions));
    for (const [name, part] of partsOf(analysis, schemas)) {
      if (fields.length >= mostFields) return;
      const own = [...path, name];
      fields.push({
        path: own.join('.'),
        types: typesOf(analysis, part.schemas),
        required: name === '*' || required.every((names) => names.has(name)),
        policy: markOf(redact, own),
      });
      const shapes = part.schemas.map((schema) => resolve(schema, definitions));
      if (own.length >= deepest || shapes.some((shape) => above.has(shape))) continue;
      walk(part.schemas, own, new Set([...above, ...shapes]));
    }
  };
  walk([root], [], new Set([resolve(root, definitions)]));
  return fields;
};

const describeEntity = (
  contract: Contract,
  { name, primaryKey, unique, relationships, schema }: EntityContract,
): EntityDescription => ({
  name,
  primaryKey,
  unique: unique.map((paths) => paths.map((path) => path.join('.'))),
  relationships,
  fields: describeFields(contract, schema),
});

/** Describes the entities of a contract. */
export const describeEntities = (contract: Contract): EntityDescription[] =>
  contract.entities.map((entity) => describeEntity(contract, entity));

/** Describes a contract. Fields are in the order of their declaration; an outer field comes before its inner fields. */
export const describeContract = (contract: Contract): WorldDescription => ({
  name: contract.name,
  package: contract.package,
  domainVersion: contract.domainVersion,
  redactSalt: contract.redact?.slug ?? null,
  entities: describeEntities(contract),
  tools: toolSchemasOf(contract),
  routes: (contract.api?.routes ?? []).map(
    ({ operation, method, path, action, entity, params }) => ({
      operation,
      method,
      path,
      action,
      entity,
      params,
    }),
  ),
  tasks: contract.tasks.map(({ name, description, tools }) => ({ name, description, tools })),
});

/**
 * What the generated page knows of its world, as plain JSON: entities with their fields, routes with
 * what they take, and how they page. It says of a schema no more than a form needs.
 */
import type {
  Contract,
  FieldPath,
  JsonSchema,
  Paging,
  RouteContract,
  UiContract,
} from '../../contract.ts';
import { scalarSchema } from '../../openapi/field-schemas.ts';
import { type Parameter, parametersOf } from '../../openapi/parameters.ts';
import { bodyOf } from '../../openapi/request-body.ts';
import { openSchemas, type SchemaSource, type Source, summaryOf } from '../../openapi/source.ts';
import { isTable } from '../../read/values.ts';

/** How a value is entered: one of `choices`, a scalar, or as JSON. */
export type Input = {
  kind: 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  choices?: unknown[];
  /** What the JSON is, where it is always the same. */
  of?: 'list' | 'object';
};

type PageParameter = Input & {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  repeated: boolean;
  description?: string;
  example?: unknown;
};

type PageBodyField = Input & {
  /** Where the request's body holds it, and which field of the row it becomes. */
  from: FieldPath;
  field: FieldPath;
  required: boolean;
};

type PageRoute = {
  operation: string;
  method: string;
  segments: RouteContract['segments'];
  path: string;
  summary: string;
  action: RouteContract['action'];
  entity: string | null;
  parameters: PageParameter[];
  /** `any`: JSON that only the handler knows. `whole`: fields of the entity. */
  body:
    | null
    | { kind: 'any' }
    | { kind: 'whole'; required: string[] }
    | { kind: 'mapped'; fields: PageBodyField[] };
  envelope: string;
  single: boolean;
  page: RouteContract['page'];
  /** Which field of a row each argument stands for. */
  fills: Record<string, FieldPath>;
};

type PageEntity = {
  name: string;
  key: string[];
  fields: (Input & { name: string; required: boolean; nullable: boolean })[];
  references: { fields: string[]; target: string }[];
};

export type PageModel = {
  title: string;
  /** Prefix of the API on the page's own origin, and where the page begins. */
  apiPath: string;
  entry: string;
  entities: PageEntity[];
  routes: PageRoute[];
  paging: Paging | null;
};

const inputOfScalar = (schema: JsonSchema): Input => {
  if (Array.isArray(schema.enum)) return { kind: 'choice', choices: schema.enum };
  if (schema.type === 'string') return { kind: 'text' };
  const kinds = ['integer', 'number', 'boolean'] as const;
  return { kind: kinds.find((kind) => kind === schema.type) ?? 'json' };
};

/** How a field is entered that these schemas hold for. */
const inputOf = (source: SchemaSource, schemas: readonly unknown[]): Input => {
  const types = source.analysis.types(schemas);
  types.delete('null');
  if (!types.has('object') && !types.has('array')) {
    return inputOfScalar(scalarSchema(source, schemas));
  }
  if (types.size > 1) return { kind: 'json' };
  return { kind: 'json', of: types.has('array') ? 'list' : 'object' };
};

const toParameter = ({ name, in: where, required, schema, ...more }: Parameter): PageParameter => {
  const repeated = schema.type === 'array';
  const single = repeated && isTable(schema.items) ? schema.items : schema;
  const input = inputOfScalar(single);
  return {
    name,
    in: where,
    required,
    repeated,
    // What comes as a text of several types goes out as the text that it is.
    ...(input.kind === 'json' ? { kind: 'text' as const } : input),
    ...(more.description === undefined ? {} : { description: more.description }),
    ...('example' in more ? { example: more.example } : {}),
  };
};

const toBody = (route: RouteContract, source: Source): PageRoute['body'] => {
  if (route.action === 'handler') return route.method === 'GET' ? null : { kind: 'any' };
  const body = bodyOf(route, source);
  const entity = source.entity(route.entity);
  if (body === undefined || entity === undefined) return null;
  if (body.kind === 'whole') return { kind: 'whole', required: body.required };
  const fields = body.fields.map(({ from, isRequired }, index): PageBodyField => {
    const field = route.body[index]?.field ?? [];
    const input = inputOf(source, source.analysis.at(entity.schema, field));
    return { from, field, required: isRequired, ...input };
  });
  return { kind: 'mapped', fields };
};

const toRoute = (route: RouteContract, source: Source): PageRoute => {
  const { operation, method, segments, path, action, entity, envelope, single, page } = route;
  const fills = route.filter
    .filter(({ match }) => match === 'equals')
    .map(({ argument, path: field }): [string, FieldPath] => [argument, field]);
  return {
    operation,
    method,
    segments,
    path,
    summary: summaryOf(route),
    action,
    entity,
    parameters: parametersOf(route, source).map(toParameter),
    body: toBody(route, source),
    envelope,
    single,
    page,
    fills: Object.fromEntries(fills),
  };
};

const toEntity = (entity: Contract['entities'][number], source: SchemaSource): PageEntity => {
  const { name, primaryKey, relationships, schema } = entity;
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(isTable(schema.properties) ? schema.properties : {});
  return {
    name,
    key: primaryKey,
    references: relationships,
    fields: fields.map(([field, inner]) => ({
      name: field,
      required: required.includes(field),
      nullable: source.analysis.types([inner]).has('null'),
      ...inputOf(source, [inner]),
    })),
  };
};

export const pageModel = (contract: Contract, ui: UiContract): PageModel => {
  const { api, entities, name } = contract;
  const schemas = openSchemas(contract);
  const source = api === null ? undefined : { ...schemas, api };
  return {
    title: name === '' ? contract.package.id : name,
    apiPath: ui.apiPath.replace(/\/+$/, ''),
    entry: /^\/(?![/\\])/.test(ui.entry) ? ui.entry : '/',
    entities: entities.map((entity) => toEntity(entity, schemas)),
    routes: source === undefined ? [] : source.api.routes.map((route) => toRoute(route, source)),
    paging: api === null ? null : api.paging,
  };
};

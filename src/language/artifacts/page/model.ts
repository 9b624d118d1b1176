/**
 * Model of a world for the generated page, as plain JSON: entities with their fields and relations, and the routes
 * that write their rows. It keeps only the parts of a schema that a list and a form need.
 */
import type {
  Contract,
  EntityContract,
  FieldPath,
  JsonSchema,
  RouteContract,
  UiContract,
} from '../../contract.ts';
import { scalarSchema } from '../../openapi/field-schemas.ts';
import { bodyOf } from '../../openapi/request-body.ts';
import { openSchemas, type SchemaSource, type Source } from '../../openapi/source.ts';
import { pathArguments } from '../../path-segments.ts';
import { isTable } from '../../read/values.ts';

/** Form control for a value: one of `choices`, a scalar, or JSON. */
type Input = {
  kind: 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  choices?: unknown[];
  /** Type of the JSON value, if all its values are lists, or all are objects. */
  of?: 'list' | 'object';
};

export type PageField = Input & {
  name: string;
  label: string;
  required: boolean;
  nullable: boolean;
  /** Format of a text that the page displays in a special way. */
  format?: 'time' | 'url';
  description?: string;
};

/** A route that writes a row. The page uses the route only if it knows all its arguments. */
export type PageRoute = {
  method: string;
  segments: RouteContract['segments'];
  /** Arguments of the path, each with the name of the row's field that gives its value. */
  fills: Record<string, string>;
  /** Members of the body, each with the field that gives its value. */
  body: { field: string; from: FieldPath; required: boolean }[];
  /** Key of the answer under which the row is; '' if the answer is the row itself. */
  envelope: string;
};

export type PageEntity = {
  name: string;
  label: string;
  key: string[];
  /** Field that describes a row to people; null if only the key can. */
  title: string | null;
  fields: PageField[];
  references: { fields: string[]; target: string }[];
  routes: { create?: PageRoute; update?: PageRoute; delete?: PageRoute };
};

export type PageModel = {
  title: string;
  /** Prefix of the API on the page's own origin, and the entry path of the page. */
  apiPath: string;
  entry: string;
  entities: PageEntity[];
};

type Verb = keyof PageEntity['routes'];

const inputOfScalar = (schema: JsonSchema): Input => {
  if (Array.isArray(schema.enum)) return { kind: 'choice', choices: schema.enum };
  if (schema.type === 'string') return { kind: 'text' };
  const kinds = ['integer', 'number', 'boolean'] as const;
  return { kind: kinds.find((kind) => kind === schema.type) ?? 'json' };
};

/** Returns the form control of a field with these schemas. */
const inputOf = (source: SchemaSource, schemas: readonly unknown[]): Input => {
  const types = new Set(source.analysis.types(schemas));
  types.delete('null');
  if (!types.has('object') && !types.has('array')) {
    const { choices, ...input } = inputOfScalar(scalarSchema(source, schemas));
    const own = choices?.filter((choice) => choice !== null);
    return own === undefined ? input : { ...input, choices: own };
  }
  if (types.size > 1) return { kind: 'json' };
  return { kind: 'json', of: types.has('array') ? 'list' : 'object' };
};

/** Returns a readable label for a name: `issue_labels` and `dueDate` become `Issue labels`, `Due date`. */
const labelOf = (name: string): string => {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_\-\s]+/g, ' ');
  const text = words.trim().replaceAll(/\b([A-Z])(?=[a-z])/g, (letter) => letter.toLowerCase());
  return text === '' ? name : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
};

const formatOf = (name: string, schema: JsonSchema): PageField['format'] => {
  if (schema.format === 'date-time' || /(_at|_on|At)$/.test(name)) return 'time';
  return schema.format === 'uri' || /(^|_)url$/.test(name) ? 'url' : undefined;
};

/** Maximum length of a description beneath a field of a form, in characters. */
const mostDescribed = 300;

const toField = (
  [name, schema]: [string, unknown],
  { source, required }: { source: SchemaSource; required: readonly unknown[] },
): PageField => {
  const input = inputOf(source, [schema]);
  const own = isTable(schema) ? schema : {};
  const format = input.kind === 'text' ? formatOf(name, own) : undefined;
  const { description } = own;
  const isDescribed = typeof description === 'string' && description.length <= mostDescribed;
  return {
    name,
    label: labelOf(name),
    required: required.includes(name),
    nullable: source.analysis.types([schema]).has('null'),
    ...input,
    ...(format === undefined ? {} : { format }),
    ...(isDescribed ? { description } : {}),
  };
};

/** Names of fields that describe a row to people, in order of preference. */
const titles = [
  'title',
  'name',
  'display_name',
  'full_name',
  'subject',
  'label',
  'summary',
  'login',
];

const titleOf = ({ primaryKey }: EntityContract, fields: readonly PageField[]): string | null => {
  const isText = (name: string): boolean =>
    fields.some((field) => field.name === name && field.kind === 'text');
  return titles.find((name) => isText(name) && !primaryKey.includes(name)) ?? null;
};

const bodyFields = (route: RouteContract, source: Source): PageRoute['body'] | undefined => {
  const body = bodyOf(route, source);
  const entity = source.entity(route.entity);
  if (body === undefined) return [];
  if (entity === undefined) return undefined;
  if (body.kind === 'whole') {
    const { properties } = entity.schema;
    return Object.keys(isTable(properties) ? properties : {}).map((field) => ({
      field,
      from: [field],
      required: body.required.includes(field),
    }));
  }
  const fields = body.fields.map(({ from, isRequired }, index) => {
    const [field, ...inner] = route.body[index]?.field ?? [];
    return { field: inner.length === 0 ? field : undefined, from, required: isRequired };
  });
  // If a required member has no field on the page, the page cannot use the route.
  if (fields.some(({ field, required }) => field === undefined && required)) return undefined;
  return fields.flatMap(({ field, ...rest }) => (field === undefined ? [] : [{ field, ...rest }]));
};

/** Returns the route in the page's form; undefined if the route needs a value that the page cannot know. */
const toRoute = (route: RouteContract, source: Source): PageRoute | undefined => {
  const { method, segments, filter, envelope } = route;
  const fills = new Map(
    filter
      .filter(({ match, path }) => match === 'equals' && path.length === 1)
      .map(({ argument, path: [field = ''] }) => [argument, field]),
  );
  const needed = pathArguments(segments);
  const body = route.action === 'delete' ? [] : bodyFields(route, source);
  if (body === undefined || !needed.every((argument) => fills.has(argument))) return undefined;
  const used = needed.map((argument) => [argument, fills.get(argument) ?? '']);
  return { method, segments, fills: Object.fromEntries(used), body, envelope };
};

const routesOf = (
  { name }: EntityContract,
  routes: readonly RouteContract[],
  source: Source | undefined,
): PageEntity['routes'] => {
  if (source === undefined) return {};
  const verbs: readonly Verb[] = ['create', 'update', 'delete'];
  const found = verbs.flatMap((verb): [Verb, PageRoute][] => {
    const own = routes.filter(({ entity, action }) => entity === name && action === verb);
    const usable = own.map((route) => toRoute(route, source)).find((route) => route !== undefined);
    return usable === undefined ? [] : [[verb, usable]];
  });
  return Object.fromEntries(found);
};

const pageFields = (source: SchemaSource, { schema }: EntityContract): PageField[] => {
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(isTable(schema.properties) ? schema.properties : {});
  return properties.map((one) => toField(one, { source, required }));
};

/** Returns, for each entity, the field that describes a row to people; null if only the key can. */
export const titleFields = (contract: Contract): ReadonlyMap<string, string | null> => {
  const source = openSchemas(contract);
  return new Map(
    contract.entities.map((entity) => [entity.name, titleOf(entity, pageFields(source, entity))]),
  );
};

export const pageModel = (contract: Contract, ui: UiContract): PageModel => {
  const { api, entities, name } = contract;
  const schemas = openSchemas(contract);
  const source = api === null ? undefined : { ...schemas, api };
  return {
    title: name === '' ? contract.package.id : name,
    apiPath: ui.apiPath.replace(/\/+$/, ''),
    entry: /^\/(?![/\\])/.test(ui.entry) ? ui.entry : '/',
    entities: entities.map((entity): PageEntity => {
      const { primaryKey, relationships } = entity;
      const fields = pageFields(schemas, entity);
      return {
        name: entity.name,
        label: labelOf(entity.name),
        key: primaryKey,
        title: titleOf(entity, fields),
        fields,
        references: relationships,
        routes: routesOf(entity, api?.routes ?? [], source),
      };
    }),
  };
};

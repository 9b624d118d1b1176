/** Finds the entities of an API: their names, fields and keys. */
import { isObject } from '#domain/json.ts';
import type { JsonSchema } from '#language/contract.ts';
import { isInherited } from '#language/read/names.ts';
import { type Api, type ApiRoute, type Mark, schemaName, singular, snakeCase } from './api.ts';

/** An entity of the draft. */
export type DraftEntity = {
  name: string;
  properties: Record<string, JsonSchema>;
  required: string[];
  key: string[];
  relationships: { field: string; target: string }[];
  /** Fields of the vendor whose names the world language does not allow. */
  unnameable: Set<string>;
};

/** Place of the rows in the body of an answer. */
export type RowsAt = {
  schema: JsonSchema;
  /** Key of the body under which the rows are; '' if the body itself holds them. */
  under: string;
  isList: boolean;
};

const isArgument = (segment: string): boolean => segment.includes('{');

export const segmentsOf = (path: string): string[] => path.split('/').filter((part) => part !== '');

/** Returns true if a path ends with an argument, so that it leads to one row. */
export const leadsToOne = (path: string): boolean => isArgument(segmentsOf(path).at(-1) ?? '');

/** Returns the last word of a path, which names the kind of objects at the path. */
export const subjectOf = (path: string): string => {
  const word = segmentsOf(path).findLast((segment) => !isArgument(segment)) ?? 'rows';
  const name = snakeCase(word.replace(/\.(json|xml)$/, ''));
  return /^(?:sqlite_|svc_|benchmark_)/.test(name) || isInherited(name) ? `x_${name}` : name;
};

const hasFields = (schema: JsonSchema | undefined): boolean =>
  isObject(schema?.properties) && Object.keys(schema.properties).length > 0;

const propertiesOf = (schema: JsonSchema): [string, JsonSchema][] =>
  Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);

const usualKeys =
  /^(?:data|items|results?|values|records|entries|list|rows|content|objects|elements)$/i;

/** Returns the place of the rows in a successful answer; null if it cannot be found. */
export const findRows = (route: ApiRoute): RowsAt | null => {
  const { answer, path } = route;
  if (answer === null) return null;
  const items = answer.items as JsonSchema | undefined;
  if (answer.type === 'array') {
    return hasFields(items) ? { schema: items ?? {}, under: '', isList: true } : null;
  }
  if (!hasFields(answer)) return null;
  const subject = subjectOf(path);
  const lists = propertiesOf(answer).filter(
    ([, schema]) => schema.type === 'array' && hasFields(schema.items as JsonSchema),
  );
  const list =
    lists.find(([name]) => snakeCase(name) === subject) ??
    lists.find(([name]) => usualKeys.test(name)) ??
    (lists.length === 1 ? lists[0] : undefined);
  if (!leadsToOne(path) && route.method === 'GET' && list !== undefined) {
    return { schema: list[1].items as JsonSchema, under: list[0], isList: true };
  }
  const wrapped = propertiesOf(answer).filter(([, schema]) => hasFields(schema));
  const [only] = wrapped;
  const isWrapper =
    wrapped.length === 1 &&
    propertiesOf(answer).length <= 2 &&
    (snakeCase(only?.[0] ?? '') === singular(subject) ||
      /^(?:data|result)$/i.test(only?.[0] ?? ''));
  if (isWrapper && only !== undefined) return { schema: only[1], under: only[0], isList: false };
  return { schema: answer, under: '', isList: false };
};

const fieldName = /^[A-Za-z_][A-Za-z0-9_]*$/;

const isFieldName = (name: string): boolean =>
  fieldName.test(name) &&
  !isInherited(name) &&
  name.length <= 128 &&
  !/^(?:sqlite_|svc_|benchmark_)/i.test(name) &&
  !['_key', 'payload'].includes(name.toLowerCase());

/** Returns the types of a schema without null. */
export const typesOf = (schema: JsonSchema | undefined): string[] => {
  const types = Array.isArray(schema?.type) ? schema.type : [schema?.type];
  return types.filter((type): type is string => typeof type === 'string' && type !== 'null');
};

export const isKeyType = (schema: JsonSchema | undefined): boolean => {
  const [type, ...others] = typesOf(schema);
  return others.length === 0 && (type === 'string' || type === 'integer');
};

/** Returns a schema for a world's field, without keywords that only describe it. */
export const fieldSchema = (schema: JsonSchema): JsonSchema => {
  const { [schemaName]: _, example: _example, default: _default, required, ...kept } = schema;
  if (isObject(kept.properties)) {
    const inner = Object.entries(kept.properties as Record<string, JsonSchema>);
    kept.properties = Object.fromEntries(inner.map(([name, one]) => [name, fieldSchema(one)]));
    if (inner.length === 0) delete kept.properties;
  }
  if (isObject(kept.items)) kept.items = fieldSchema(kept.items as JsonSchema);
  // Formats and lists of values in vendors' documents are rarely complete, and would refuse valid rows.
  delete kept.format;
  return Array.isArray(required) && required.length > 0 && kept.properties !== undefined
    ? {
        ...kept,
        required: required.filter((name) => Object.hasOwn(kept.properties as object, String(name))),
      }
    : kept;
};

const join = (entity: DraftEntity, schema: JsonSchema, isFirst: boolean): void => {
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
  for (const [name, property] of propertiesOf(schema)) {
    if (!isFieldName(name)) entity.unnameable.add(name);
    else if (!Object.hasOwn(entity.properties, name)) {
      entity.properties[name] = fieldSchema(property);
    }
  }
  entity.required = isFirst
    ? [...required].filter((name) => Object.hasOwn(entity.properties, name))
    : entity.required.filter((name) => required.has(name));
};

const argumentAt = (path: string): string => /\{([^}.]+)(?:\.\.\.)?\}[^/]*$/.exec(path)?.[1] ?? '';

/** Returns the fields that an argument or a word may refer to, the likeliest first. */
const candidates = (entity: DraftEntity, argument: string): string[] => {
  const one = singular(entity.name);
  const wanted = [
    argument,
    argument.replace(new RegExp(`^${one}_?`, 'i'), ''),
    'id',
    `${one}_id`,
    ...snakeCase(argument).split('_'),
    'uuid',
    'key',
    'slug',
    'number',
    'code',
    'name',
  ];
  const names = Object.keys(entity.properties);
  return wanted.flatMap((word) => {
    if (word === '') return [];
    const found =
      names.find((name) => name === word) ??
      names.find((name) => snakeCase(name) === snakeCase(word));
    return found === undefined ? [] : [found];
  });
};

const settleKey = (entity: DraftEntity, paths: readonly string[], marks: Mark[]): boolean => {
  const item = paths.find((path) => leadsToOne(path) && subjectOf(path) === entity.name);
  const argument = item === undefined ? '' : argumentAt(item);
  const key = candidates(entity, argument).find((name) => isKeyType(entity.properties[name]));
  if (key === undefined) return false;
  entity.key = [key];
  const place = `entity ${entity.name}`;
  if (argument !== '' && snakeCase(key) !== snakeCase(argument) && key !== 'id') {
    marks.push({ place, message: `its key is taken to be "${key}"; its path says {${argument}}` });
  } else if (argument === '' && !/id$/i.test(key)) {
    marks.push({ place, message: `its key is taken to be "${key}"` });
  }
  const [type] = typesOf(entity.properties[key]);
  entity.properties[key] = { ...entity.properties[key], type };
  if (!entity.required.includes(key)) entity.required.push(key);
  return true;
};

export type FoundEntities = {
  entities: DraftEntity[];
  /** Entity of each route, and the place of the rows in its answers. */
  byRoute: Map<string, { entity: DraftEntity; rows: RowsAt }>;
};

/** Sorts lists before single rows, and short paths before long ones. */
const inOrder = (routes: readonly ApiRoute[]): ApiRoute[] =>
  [...routes].sort(
    (a, b) =>
      Number(leadsToOne(a.path)) - Number(leadsToOne(b.path)) ||
      segmentsOf(a.path).length - segmentsOf(b.path).length,
  );

/** Finds the entities of an API from the answers of its reading routes. */
export const findEntities = ({ routes }: Api, marks: Mark[]): FoundEntities => {
  const byName = new Map<string, DraftEntity>();
  const bySchema = new Map<unknown, DraftEntity>();
  const found: FoundEntities = { entities: [], byRoute: new Map() };
  for (const route of inOrder(routes.filter(({ method }) => method === 'GET'))) {
    const rows = findRows(route);
    if (rows === null) continue;
    const named = rows.schema[schemaName];
    const subject = subjectOf(route.path);
    const known = (named === undefined ? undefined : bySchema.get(named)) ?? byName.get(subject);
    const entity: DraftEntity = known ?? {
      ...{ name: subject, properties: Object.create(null), required: [], key: [] },
      relationships: [],
      unnameable: new Set<string>(),
    };
    join(entity, rows.schema, known === undefined);
    byName.set(entity.name, entity);
    if (named !== undefined) bySchema.set(named, entity);
    found.byRoute.set(route.name, { entity, rows });
  }
  const paths = routes.map(({ path }) => path);
  for (const entity of byName.values()) {
    if (settleKey(entity, paths, marks)) found.entities.push(entity);
    else {
      const message =
        'no field could be identified as its key, so its routes are captured but not served';
      marks.push({ place: `entity ${entity.name}`, message });
    }
  }
  for (const [name, { entity }] of found.byRoute) {
    if (!found.entities.includes(entity)) found.byRoute.delete(name);
  }
  return found;
};
